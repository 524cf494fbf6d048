import type { BenchContext } from './context.ts';
import type { PeerName } from './peers.ts';
import { showCommand, startProgram } from './program.ts';

/** As long as a timer can wait. */
const FOREVER_MS = 2 ** 31 - 1;

export interface PeerRun {
  /** From the spawn until it has ended and all it wrote has been read. */
  tookMs: number;
  lines: number;
  output: string;
  /** It took longer than it may and was ended; the figures are those of that moment. */
  gaveUp: boolean;
}

export interface PeerOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  maxMs?: number;
}

/**
 * Runs a program that writes what it finds into a pipe, which is read to its end. (Writing to /dev/null, or only
 * counting, ripgrep and grep do less.)
 */
export async function runPeer(
  context: BenchContext,
  name: PeerName | 'node',
  args: readonly string[],
  { env = {}, cwd, maxMs = FOREVER_MS }: PeerOptions = {},
): Promise<PeerRun> {
  context.recordCommand([name, ...args]);
  const startedAt = performance.now();
  const path = name === 'node' ? process.execPath : context.peer(name);
  const program = startProgram([path, ...args], context.cleanup, {
    ...(cwd !== undefined && { cwd }),
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  let gaveUp = false;
  const giveUp = () => {
    gaveUp = true;
    program.child.kill('SIGKILL');
  };
  const timer = setTimeout(giveUp, maxMs);
  const code = await program.exited;
  clearTimeout(timer);
  const tookMs = performance.now() - startedAt;
  // 1: nothing found.
  if (!gaveUp && code !== 0 && code !== 1)
    throw new Error(`${showCommand([name, ...args])} ended with ${code ?? 'a signal'}`);
  const { output } = program;
  return { tookMs, lines: output.split('\n').length - 1, output, gaveUp };
}
