import { once } from 'node:events';
import { get } from 'node:http';
import { type BenchContext, ROOT } from './context.ts';
import type { PeerName } from './peers.ts';
import { showCommand, startProgram } from './program.ts';

const NEWLINE = 10;

/** What was written or sent, without keeping it. */
export interface Counted {
  /** From the start until the last byte has been read. */
  tookMs: number;
  lines: number;
  /** It took longer than it may and was ended. */
  gaveUp: boolean;
}

/** Counts what arrives; keeps only its end. */
class LineCount {
  #newlines = 0;
  /** The last bytes, with the last line. */
  tail: Buffer = Buffer.alloc(0);

  /** The last one may have no newline. */
  get lines(): number {
    return this.tail.length > 0 && this.tail.at(-1) !== NEWLINE ? this.#newlines + 1 : this.#newlines;
  }

  readonly add = (chunk: Buffer): void => {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) this.#newlines++;
    this.tail = chunk.length >= TAIL_BYTES ? chunk : Buffer.concat([this.tail, chunk]).subarray(-TAIL_BYTES);
  };
}

/** More than the end of a search. */
const TAIL_BYTES = 16 * 1024;

/** Runs a program that writes to a pipe, which `wc` reads: it takes no time that the program needs. */
export async function countOutput(
  context: BenchContext,
  name: PeerName | 'node',
  args: readonly string[],
  { env = {}, maxMs = 2 ** 31 - 1 }: { env?: NodeJS.ProcessEnv; maxMs?: number } = {},
): Promise<Counted> {
  context.recordCommand([name, ...args]);
  const counter = startProgram(['wc', '-l'], context.cleanup, { stdio: ['pipe', 'pipe', 'inherit'] });
  const startedAt = performance.now();
  const path = name === 'node' ? process.execPath : context.peer(name);
  const { child, exited } = startProgram([path, ...args], context.cleanup, {
    cwd: ROOT,
    stdio: ['ignore', counter.child.stdin, 'inherit'],
    env: { ...process.env, ...env },
  });
  // Only the program holds it open now.
  counter.child.stdin?.destroy();
  let gaveUp = false;
  const timer = setTimeout(() => {
    gaveUp = true;
    child.kill('SIGKILL');
  }, maxMs);
  const code = await exited;
  clearTimeout(timer);
  if (!gaveUp && code !== 0) throw new Error(`${showCommand([name, ...args])} ended with ${code ?? 'a signal'}`);
  await counter.exited;
  return { tookMs: performance.now() - startedAt, lines: Number(counter.output), gaveUp };
}

/** Reads a response to its end. Rejects unless the last line is as it should be. */
export async function countResponse(url: string, hasEnd: (lastLine: string) => boolean): Promise<Counted> {
  const startedAt = performance.now();
  const request = get(url, { agent: false });
  const [response] = await once(request, 'response');
  const count = new LineCount();
  response.on('data', count.add);
  await once(response, 'end');
  const tookMs = performance.now() - startedAt;
  const lastLine = count.tail.subarray(count.tail.lastIndexOf(NEWLINE, -2) + 1).toString();
  if (response.statusCode !== 200 || !hasEnd(lastLine))
    throw new Error(`${url} answers ${response.statusCode}, ending with ${lastLine.slice(0, 500)}`);
  return { tookMs, lines: count.lines, gaveUp: false };
}
