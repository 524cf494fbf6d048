import type { RunningNode } from '@porthole/server';
import { EXIT } from '../../exit-codes.ts';
import type { Invocation } from '../../invocation.ts';
import { settingsFromFlags } from './setting-flags.ts';

export function run(invocation: Invocation): Promise<number> {
  return runNode({ file: invocation.text('config'), flags: settingsFromFlags(invocation.given) });
}

interface RunNodeOptions {
  file: string | undefined;
  /** By setting key. */
  flags: Record<string, string | boolean | string[]>;
}

/** Runs a node until a signal stops it. Resolves with the exit code. */
async function runNode({ file, flags }: RunNodeOptions): Promise<number> {
  const { startNode } = await import('@porthole/server');
  const node = await startNode({ file, flags, env: process.env });
  for (const warning of node.warnings) console.error(`porthole: ${warning}`);
  process.on('uncaughtException', (error) => die(node, error));
  process.stdout.write(`porthole is ready at ${node.url}\n`);
  // In a terminal SIGHUP means that the terminal was closed. The result of the reload goes to the own log.
  if (!process.stdout.isTTY) process.on('SIGHUP', () => void node.reload());
  await stopOnSignal(node);
  return EXIT.ok;
}

/** The first signal stops the node cleanly, a second one exits immediately. */
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

/** An uncaught exception: the stack goes to the own log, the error to stderr. */
function die(node: RunningNode, error: Error): void {
  node.logCrash(error);
  console.error(error);
  process.exit(EXIT.error);
}
