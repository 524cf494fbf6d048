import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '@porthole/contract';
import type { FileProblem, LogMount } from '@porthole/logs';
import { StartError } from '../errors.ts';
import type { HealthCheck } from '../health.ts';
import { ownDirs } from '../own-dirs.ts';
import type { Logger } from '../own-log/own-log.ts';
import type { Settings } from '../settings/settings.ts';
import { JournalSpool } from './journal-spool.ts';

/** The directory of its logs, as clients see it: `journal/all.log`, `journal/nginx.service.log`. */
const MOUNT = 'journal';

/** The log of all units. */
const ALL = 'all';

/** The journal as logs of a node. */
export interface Journal {
  mount: LogMount;
  check(): Omit<HealthCheck, 'name'>;
  close(): Promise<void>;
}

/** Starts to read the journal. */
export async function openJournal(all: Settings, log: Logger): Promise<Journal> {
  const { log: settings } = all;
  const dir = ownDirs(all).journal;
  const units = settings.journalUnits.length === 0 ? [undefined] : [...new Set(settings.journalUnits)];
  await prepareDir(dir, units).catch((error: unknown) => {
    throw new StartError(`log.journal: ${dir}, next to logging.dir, cannot be used: ${errorMessage(error)}`);
  });
  const spools = new Map<string, JournalSpool>();
  for (const unit of units) {
    const fileName = logName(unit);
    const selection = { directory: settings.journalDir, unit };
    const maxBytes = Math.floor(settings.journalMaxBytes / units.length);
    spools.set(`${MOUNT}/${fileName}`, await JournalSpool.open({ dir, fileName, selection, maxBytes, log }));
  }
  for (const spool of spools.values()) spool.start();
  return {
    mount: { name: MOUNT, path: dir, problems: () => [...spools].flatMap(([file, spool]) => problemsOf(file, spool)) },
    check: () => checkSpools([...spools.values()]),
    close: async () => {
      await Promise.all([...spools.values()].map((spool) => spool.close()));
    },
  };
}

function logName(unit: string | undefined): string {
  return `${unit ?? ALL}.log`;
}

/** What the log of the journal lacks now: its absence must not look like a quiet machine. */
function problemsOf(file: string, { status, entries }: JournalSpool): FileProblem[] {
  const { state, detail, incomplete } = status;
  if (state === 'failed') return [{ file, code: 'JOURNAL_UNAVAILABLE', detail }];
  const behind = `the journal is still being read (${entries} entries so far): retry in a moment`;
  const missing = state === 'behind' ? behind : incomplete;
  return missing === undefined ? [] : [{ file, code: 'JOURNAL_INCOMPLETE', detail: missing }];
}

function checkSpools(spools: readonly JournalSpool[]): Omit<HealthCheck, 'name'> {
  const failed = spools.find(({ status }) => status.state === 'failed')?.status.detail;
  const incomplete = spools.find(({ status }) => status.incomplete !== undefined)?.status.incomplete;
  const wrong = failed ?? incomplete;
  return { ok: wrong === undefined, detail: wrong ?? spools.map(({ status }) => status.detail).join('; ') };
}

/** Also removes copies of units that are no longer in the settings. The journal still has them. */
async function prepareDir(dir: string, units: readonly (string | undefined)[]): Promise<void> {
  // Only for the user of the node: whoever may read it there need not be allowed to read the journal.
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const kept = new Set(units.map(logName));
  for (const name of await readdir(dir)) {
    const live = name.replace(/-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log$/, '.log');
    if (live.endsWith('.log') && !kept.has(live)) await rm(join(dir, name), { force: true });
  }
}
