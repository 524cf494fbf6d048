import type { RunningNode } from '@porthole/server';
import { EXIT } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { settingsFromFlags } from './setting-flags.ts';

/** Records per second of each demo node: enough to see something happen. */
const DEMO_RATE = '5';

export async function run(invocation: Invocation): Promise<number> {
  const options = { file: invocation.text('config'), flags: settingsFromFlags(invocation.given) };
  return invocation.isOn('demo') ? runWithDemo(invocation, options) : runNode(options);
}

/** Runs a node beside the demo cluster, which the console links to. */
async function runWithDemo(invocation: Invocation, options: RunNodeOptions): Promise<number> {
  const { startDemo } = await import('../demo/demo.ts');
  const stopping = new AbortController();
  const onFreePorts = invocation.with({ 'http-port': '0', 'grpc-port': '0', rate: DEMO_RATE });
  const demo = await startDemo(onFreePorts, stopping.signal);
  demo.written.catch((error: Error) => invocation.terminal.note(`the demo logs are not continued: ${error.message}`));
  try {
    return await runNode({ ...options, demoUrl: demo.url });
  } finally {
    stopping.abort();
    await demo.stop();
  }
}

interface RunNodeOptions {
  file: string | undefined;
  /** By setting key. */
  flags: Record<string, string | boolean | string[]>;
  demoUrl?: string;
}

/** Runs a node until a signal stops it. Resolves with the exit code. */
async function runNode({ file, flags, demoUrl }: RunNodeOptions): Promise<number> {
  const { startNode } = await import('@porthole/server');
  const demo = demoUrl && { demoUrl };
  const node = await startNode({
    file,
    flags,
    env: process.env,
    ownsProcess: true,
    ...demo,
  });
  for (const warning of node.warnings) console.error(`porthole: ${warning}`);
  process.on('uncaughtException', (error) => die(node, error));
  // In a terminal SIGHUP means that the terminal was closed. The result of the reload goes to the own log.
  if (!process.stdout.isTTY) process.on('SIGHUP', () => void node.reload());
  // Nobody may be reading what a service prints: the node goes on.
  process.stdout.removeAllListeners('error').on('error', () => {});
  const stopped = stopOnSignal(node);
  // Whoever reads this may send a signal at once.
  process.stdout.write(`porthole is ready at ${node.url}\n`);
  if (demoUrl) console.error(`porthole: the demo cluster is at ${demoUrl}`);
  await stopped;
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
function die(node: RunningNode, error: unknown): void {
  node.logCrash(error);
  console.error(error);
  console.error('porthole: the node has ended: the error above was not expected');
  process.exit(EXIT.error);
}
