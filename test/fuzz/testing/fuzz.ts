import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '@porthole/contract';
import { scaled } from '@porthole/logs/testing';
import { it } from 'vitest';

/** `SEED=random MORE=20 npm test -- test/fuzz` looks for new cases. */
const { SEED: GIVEN_SEED = '20261115', MORE = '1' } = process.env;
const SEED = GIVEN_SEED === 'random' ? Date.now() >>> 0 : Number(GIVEN_SEED);

/** Inputs of a run in the tests; some hundred milliseconds where an input costs little. */
const RUNS = 4000;

/** No input of at most 64 KiB takes this long unless its cost grows faster than its size; tried twice. */
const LONG_MS = scaled(2000);

const FIXTURES = join(import.meta.dirname, '../fixtures');

interface Fuzzing {
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
  it(`${name}: any input is taken or refused as documented`, async () => {
    for (const input of [...good, ...foundBefore(name)]) await tried(check, input);
    const random = seededRandom(SEED);
    for (let run = 0; run < runs * Number(MORE); run++) await tried(check, mutate(good, random));
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

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Bytes at which parsers decide, in texts and in binary numbers. */
const SPECIAL_BYTES = Buffer.from('\0\n\r\t "\'\\%&+,-./0123456789:;<=>?@[]{}~\x7f\x80\xbf\xc0\xe2\xf0\xff', 'latin1');

/** An input of the corpus with a few changes; sometimes two of them together. */
function mutate(corpus: readonly Uint8Array[], random: () => number): Buffer {
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = () => Buffer.from(corpus[below(corpus.length)] ?? []);
  let bytes: Buffer = pick();
  for (let changes = 1 + below(6); changes > 0; changes--) bytes = change(bytes, { below, pick });
  return bytes;
}

interface Chance {
  below(limit: number): number;
  pick(): Buffer;
}

/** Larger inputs are the business of the limits on size, which have tests of their own. */
const MOST_BYTES = 64 * 1024;

function change(bytes: Buffer, { below, pick }: Chance): Buffer {
  const at = below(bytes.length + 1);
  const until = at + below(Math.min(64, bytes.length - at + 1));
  const [before, part, after] = [bytes.subarray(0, at), bytes.subarray(at, until), bytes.subarray(until)];
  const byte = Buffer.from([below(2) === 0 ? below(256) : (SPECIAL_BYTES[below(SPECIAL_BYTES.length)] ?? 0)]);
  const changes = [
    () => Buffer.concat([before, byte, after]), // replaced, or inserted
    () => Buffer.concat([before, byte, part, after]),
    () => Buffer.concat([before, after]),
    () => Buffer.concat([before, ...Array.from({ length: 2 + below(40) }, () => part), after]),
    () => before, // cut
    () => Buffer.concat([before, pick(), after]),
    () => flipBit(bytes, at, below(8)),
  ];
  return changes[below(changes.length)]?.().subarray(0, MOST_BYTES) ?? bytes;
}

function flipBit(bytes: Buffer, at: number, bit: number): Buffer {
  const flipped = Buffer.from(bytes);
  if (at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
  return flipped;
}

/** The result, or `undefined` for a refusal with a code of the closed list. Everything else that is thrown is a finding. */
export function tryParse<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    checkRefusal(error);
    return undefined;
  }
}

/** Rethrows it unless it is an error that clients receive with its own code. */
export function checkRefusal(error: unknown): void {
  if (codeOf(error) === 'INTERNAL') throw error;
}
