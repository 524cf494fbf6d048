import { join } from 'node:path';
import { type BenchContext, ROOT } from './context.ts';
import { startProgram } from './program.ts';

/** Far beyond any start that is worth waiting for. */
const READY_MS = 30_000;

const READY_LINE = /^porthole is ready at (http\S+)\/$/m;

/** Unless a group measures it, a node starts without what an earlier one has learned, and indexes nothing meanwhile. */
const INDEX_DISK = '--search-max-index-disk';

const CLIENT_SHARE = '--http-max-streams-per-client';

export interface PortholeServer {
  /** Without a slash at the end. */
  url: string;
  pid: number;
  /** From the spawn to the ready line. */
  startMs: number;
  stop(): Promise<void>;
}

/** Starts the built command line program as a process of its own, with any free ports and, but for `flags`, default settings. */
export async function startPorthole(
  context: BenchContext,
  logDir: string,
  flags: readonly string[] = [],
): Promise<PortholeServer> {
  const loggingDir = flags.includes('--logging-dir') ? [] : ['--logging-dir', join(context.tempDir(), 'log')];
  const dirFlags = ['--log-dir', logDir, ...loggingDir];
  const index = flags.includes(INDEX_DISK) ? [] : [INDEX_DISK, '0'];
  // All load comes from one address, as if it were one client.
  const shares = flags.includes(CLIENT_SHARE) ? [] : [CLIENT_SHARE, '100000'];
  const ports = ['--http-port', '0', '--grpc-port', '0'];
  const args = ['packages/cli/bin/porthole.cjs', 'serve', ...dirFlags, ...ports, ...index, ...shares, ...flags];
  context.recordCommand(['node', ...args]);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PORTHOLE_')));
  const startedAt = performance.now();
  const program = startProgram([process.execPath, ...args], context.cleanup, { cwd: ROOT, env });
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`porthole ${why}\n${program.output}`));
    const timer = setTimeout(() => fail(`was not ready within ${READY_MS} ms`), READY_MS);
    program.child.stdout?.on('data', () => {
      const url = READY_LINE.exec(program.output)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve({ url, pid: program.child.pid ?? 0, startMs: performance.now() - startedAt, stop: program.stop });
    });
    const onEnd = () => {
      clearTimeout(timer);
      fail('ended before it was ready');
    };
    program.exited.then(onEnd, onEnd);
  });
}
