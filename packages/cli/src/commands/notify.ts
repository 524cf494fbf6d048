import { testWebhooks } from '@porthole/server/notify';
import { EXIT, interruptSignal } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { formatTable } from '../output/format-table.ts';
import { visibleText } from '../output/visible-text.ts';
import { settingsFromFlags } from './serve/setting-flags.ts';

/** Sends a test event to each webhook. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal, given, env } = invocation;
  const sources = { file: invocation.text('config'), flags: settingsFromFlags(given), env };
  const tests = await testWebhooks(sources, interruptSignal());
  const columns = ['WEBHOOK', 'RESULT', 'TIME', 'DETAIL'].map((title) => ({ title }));
  const rows = tests.map(({ name, isDelivered, elapsedMs, detail }) => [
    name,
    isDelivered ? 'delivered' : 'failed',
    `${elapsedMs} ms`,
    visibleText(detail),
  ]);
  await terminal.write(formatTable(columns, rows, terminal));
  return tests.every(({ isDelivered }) => isDelivered) ? EXIT.ok : EXIT.different;
}
