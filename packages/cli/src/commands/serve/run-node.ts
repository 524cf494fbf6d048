import type { RunningNode } from '@porthole/server';
import { EXIT } from '../../exit-codes.ts';

export interface RunNodeOptions {
  file: string | undefined;
  /** By setting key. */
  flags: Record<string, string | boolean | string[]>;
}

/** Starts a node and stays until a signal ends it. Resolves with the exit code. */
export async function runNode({ file, flags }: RunNodeOptions): Promise<number> {
  const { startNode } = await import('@porthole/server');
  const node = await startNode({ file, flags, env: process.env });
  for (const warning of node.warnings) console.error(`porthole: ${warning}`);
  process.on('uncaughtException', (error) => die(node, error));
  process.stdout.write(`porthole is ready at ${node.url}\n`);
  // In a terminal it means that the terminal is gone. The own log tells what came of it.
  if (!process.stdout.isTTY) process.on('SIGHUP', () => void node.reload());
  await stopOnSignal(node);
  return EXIT.ok;
}

/** The first signal stops in order, a second one at once. */
function stopOnSignal(node: RunningNode): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopping = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (stopping) {
        node.flushLogSync();
        process.exit(signal === 'SIGTERM' ? EXIT.terminated : EXIT.interrupted);
      }
      stopping = true;
      node.stop().then(resolve, reject);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

/** A bug took the process down: where in the code is noted in the own log, and the message goes to stderr. */
function die(node: RunningNode, error: Error): void {
  node.logCrash(error);
  console.error(error);
  process.exit(EXIT.error);
}
