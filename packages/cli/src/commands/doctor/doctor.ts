import { runDoctor } from '@porthole/server/doctor';
import { EXIT } from '../../exit-codes.ts';
import type { Invocation } from '../../invocation.ts';
import { settingsFromFlags } from '../serve/setting-flags.ts';
import { formatReport } from './format-report.ts';

export async function run(invocation: Invocation): Promise<number> {
  const { terminal, given, env } = invocation;
  const report = await runDoctor({ file: invocation.text('config'), flags: settingsFromFlags(given), env });
  const isHealthy = report.findings.every(({ state }) => state !== 'problem');
  const isJson = invocation.text('output') === 'json';
  await terminal.write(
    isJson ? `${JSON.stringify({ healthy: isHealthy, ...report }, null, 2)}\n` : formatReport(report, terminal.colors),
  );
  return isHealthy ? EXIT.ok : EXIT.different;
}
