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

export async function run(invocation: Invocation): Promise<number> {
  const interrupted = interruptSignal({ graceMs: Number.POSITIVE_INFINITY });
  const dir = mkdtempSync(join(tmpdir(), 'porthole-demo-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  // Also when a second signal exits the process.
  process.once('exit', remove);
  try {
    const nodes = demoNodes(invocation.number('nodes') ?? DEFAULT_NODES);
    const { url, logs, stop } = await startDemoNodes(invocation, dir, nodes);
    try {
      await invocation.terminal.write(`porthole is ready at ${url}\n`);
      printSuggestions(invocation, { url, count: nodes.length });
      const rate = invocation.number('rate') ?? DEFAULT_RATE;
      await Promise.all(logs.map((each) => writeLive(each, rate, interrupted)));
    } finally {
      await stop();
    }
  } finally {
    remove();
  }
  return EXIT.ok;
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
