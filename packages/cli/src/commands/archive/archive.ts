import { initArchive } from '@porthole/server/archive';
import { EXIT } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { settingsFromFlags } from '../serve/setting-flags.ts';

export async function run(invocation: Invocation): Promise<number> {
  const { terminal, given, env } = invocation;
  const dryRun = invocation.isOn('dry-run');
  const sources = { file: invocation.text('config'), flags: settingsFromFlags(given), env };
  const { target, from, to, statements, droppedDays } = await initArchive(sources, { dryRun });
  if (dryRun) {
    await terminal.write(statements.map((sql) => `${sql};\n\n`).join(''));
    terminal.note(statements.length === 0 ? `${target} is up to date` : `${target}: nothing was changed`);
    return EXIT.ok;
  }
  if (statements.length === 0) terminal.note(`${target} is up to date (version ${to})`);
  else if (from === to) terminal.note(`${target}: changed what was not as it should be:\n${statements.join('\n')}`);
  else terminal.note(`${target}: ${from === 0 ? 'tables created' : `upgraded from version ${from}`} (version ${to})`);
  if (droppedDays.length > 0) terminal.note(`deleted records of ${droppedDays.join(', ')}, older than archive.keep`);
  return EXIT.ok;
}
