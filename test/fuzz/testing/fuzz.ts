import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scaled } from '@porthole/logs/testing';
import { it } from 'vitest';
import { mutate, seededRandom } from './mutate.ts';

/** `FUZZ_SECONDS=600 npm test -- test/fuzz` looks for new cases, each time others. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 0);
const SEED = SECONDS > 0 ? Date.now() >>> 0 : 20261115;

/** Of a run in the tests; some hundred milliseconds where an input costs little. */
const RUNS = 4000;

/** No input of at most 64 KiB takes this long unless its cost grows faster than its size; tried twice. */
const LONG_MS = scaled(2000);

const FIXTURES = join(import.meta.dirname, '../fixtures');

export interface Fuzzing {
  /** Good inputs, and bad ones that are worth changing. */
  corpus: readonly (string | Uint8Array)[];
  /** Fewer where one costs more. */
  runs?: number;
  /** Throws what is wrong. That an input is refused as documented is not. */
  check(input: Buffer): void | Promise<void>;
}

/** A test that a parser takes or refuses whatever comes, in bounded time. Inputs that were found once are tried first. */
export function fuzz(name: string, { corpus, runs = RUNS, check }: Fuzzing): void {
  const good = corpus.map((input) => Buffer.from(input));
  const timeout = scaled(180_000) + SECONDS * 1000;
  it(`${name}: any input is taken or refused as documented`, { timeout }, async () => {
    for (const input of [...good, ...foundBefore(name)]) await tried(check, input);
    const random = seededRandom(SEED);
    const until = Date.now() + SECONDS * 1000;
    for (let run = 0; run < runs || Date.now() < until; run++) await tried(check, mutate(good, random));
  });
}

/** Files `NAME` or `NAME.N`, blanks as dashes. */
function foundBefore(name: string): Buffer[] {
  if (!existsSync(FIXTURES)) return [];
  const file = name.replaceAll(' ', '-');
  const names = readdirSync(FIXTURES).filter((candidate) => candidate.replace(/\.\d+$/, '') === file);
  return names.map((candidate) => readFileSync(join(FIXTURES, candidate)));
}

async function tried(check: Fuzzing['check'], input: Buffer): Promise<void> {
  try {
    const tookMs = await measureTime(check, input);
    if (tookMs > LONG_MS && (await measureTime(check, input)) > LONG_MS)
      throw new Error(`it takes ${Math.round(tookMs)} ms`);
  } catch (cause) {
    const shown = input.length > 2000 ? `${input.length} bytes` : JSON.stringify(input.toString('latin1'));
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    const message = `${reason}\ninput (seed ${SEED}, latin1): ${shown}\nbase64: ${input.toString('base64')}`;
    throw new Error(message, { cause });
  }
}

async function measureTime(check: Fuzzing['check'], input: Buffer): Promise<number> {
  const startedAt = performance.now();
  await check(input);
  return performance.now() - startedAt;
}
