import { explainFiles, findJournalFiles } from '../journal/journal-files.ts';
import { JournalError, type JournalSelection, journalctlArgs, runJournalctl } from '../journal/journalctl.ts';
import { type CheckContext, type CheckOutcome, ok, problem, warning } from './check-result.ts';

/** Finding the newest entry takes milliseconds; a large journal on a slow disk may take longer. */
const TIMEOUT_MS = 10_000;

/** Whether the journal can be read, all of it, and has entries of the units in the settings. */
export async function checkJournal({ settings: { log } }: CheckContext): Promise<CheckOutcome[]> {
  if (!log.journal) return [];
  const directory = log.journalDir;
  const files = await findJournalFiles(directory);
  const missing = explainFiles(files, directory);
  try {
    await hasEntries({ directory, unit: undefined });
    if (files.files === 0) return [problem(missing ?? '', 'turn log.journal off, or correct log.journal-dir')];
    const outcomes: CheckOutcome[] = [];
    for (const unit of log.journalUnits) {
      if (await hasEntries({ directory, unit })) continue;
      const remedy = 'correct log.journal-units; "journalctl --field=_SYSTEMD_UNIT" lists all units with entries';
      outcomes.push(warning(`the journal has no entries of ${unit}`, remedy));
    }
    if (missing !== undefined) outcomes.push(warning(missing, 'add the user to the group systemd-journal'));
    return outcomes.length > 0 ? outcomes : [ok(`${files.files} journal files are readable`)];
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    const remedy = 'install systemd, add the user to the group systemd-journal, or turn log.journal off';
    return [problem(files.unreadable > 0 ? (missing ?? error.message) : error.message, remedy)];
  }
}

async function hasEntries(selection: JournalSelection): Promise<boolean> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const newest = runJournalctl(journalctlArgs(selection, { lines: 1 }), { signal });
  const { done } = await newest.next();
  await newest.return();
  if (signal.aborted) throw new JournalError(`journalctl did not respond within ${TIMEOUT_MS} ms`);
  return !done;
}
