import { type BenchContext, ROOT } from './context.ts';
import type { PeerName } from './peers.ts';
import { showCommand, startProgram } from './program.ts';

/** What was written or sent, without keeping it. */
export interface Counted {
  /** From the start until the last byte has been read. */
  tookMs: number;
  lines: number;
  /** It took longer than it may and was ended. */
  gaveUp: boolean;
}

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
