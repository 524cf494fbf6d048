import { runDoctor } from '@porthole/server/checkup';
import { EXIT } from '../../exit-codes.ts';
import type { Invocation } from '../../invocation.ts';
import { settingsOf } from '../serve/setting-flags.ts';
import { showCheckup } from './show-checkup.ts';

export async function run(invocation: Invocation): Promise<number> {
  const { terminal, given, env } = invocation;
  const checkup = await runDoctor({ file: invocation.text('config'), flags: settingsOf(given), env });
  const isHealthy = checkup.findings.every(({ state }) => state !== 'problem');
  const isJson = invocation.text('output') === 'json';
  await terminal.write(
    isJson ? `${JSON.stringify({ healthy: isHealthy, ...checkup }, null, 2)}\n` : showCheckup(checkup, terminal.colors),
  );
  return isHealthy ? EXIT.ok : EXIT.different;
}
