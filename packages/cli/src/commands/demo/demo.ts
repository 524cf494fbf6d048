import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT } from '../../exit-codes.ts';
import { interruptSignal } from '../../interrupt.ts';
import type { Invocation } from '../../invocation.ts';
import { demoNodes } from './demo-nodes.ts';
import { startDemoNodes } from './start-demo-nodes.ts';
import { writeLive } from './write-records.ts';

const DEFAULT_NODES = 3;

const DEFAULT_RATE = 20;

export interface DemoCluster {
  /** URL of its first node. */
  url: string;
  count: number;
  /** Settles when the signal ends the writing of its logs. */
  written: Promise<void>;
  /** Stops the nodes and removes their files. */
  stop(): Promise<void>;
}

export async function run(invocation: Invocation): Promise<number> {
  const demo = await startDemo(invocation, interruptSignal({ graceMs: Number.POSITIVE_INFINITY }));
  try {
    await invocation.terminal.write(`porthole is ready at ${demo.url}\n`);
    printSuggestions(invocation, demo);
    await demo.written;
  } finally {
    await demo.stop();
  }
  return EXIT.ok;
}

/** Starts the demo nodes in this process and writes their logs until the signal fires. */
export async function startDemo(invocation: Invocation, signal: AbortSignal): Promise<DemoCluster> {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-demo-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  // Also when a second signal exits the process.
  process.once('exit', remove);
  try {
    const nodes = demoNodes(invocation.number('nodes') ?? DEFAULT_NODES);
    const { url, logs, stop } = await startDemoNodes(invocation, dir, nodes);
    const rate = invocation.number('rate') ?? DEFAULT_RATE;
    const written = Promise.all(logs.map((each) => writeLive(each, rate, signal))).then(() => {});
    return { url, count: nodes.length, written, stop: () => stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

function printSuggestions({ terminal }: Invocation, { url, count }: { url: string; count: number }): void {
  const address = url.replace(/\/$/, '');
  const option = address.endsWith(':7300') ? '' : ` --url ${address}`;
  const one = ['logs search "could not be sent"', 'logs digest -l warn', 'logs histogram', 'config get broker'];
  const several = ['nodes', 'logs --all -f -l warn', 'logs digest --all -l error', 'config diff', 'logs histogram'];
  terminal.note(
    count === 1
      ? 'this is a demo database node; open the address above, or try in another terminal:'
      : `these are ${count} demo database nodes, one of them unhealthy; open the address above, or try in another terminal:`,
  );
  for (const line of ['logs -f -l warn', ...(count === 1 ? one : several)])
    terminal.note(`  porthole ${line}${option}`);
  terminal.note('Ctrl-C stops the demo and removes its files');
}
