import { randomUUID } from 'node:crypto';
import { watch } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { types } from 'node:util';
import { PortholeError } from '@porthole/contract';
import { checkUserFormats, createZone, LogDir, type LogFileDetails } from '@porthole/logs';
import { readConfigFiles } from '../config/config-files.ts';
import { viewConfig } from '../config/config-view.ts';
import { TomlError } from '../config/formats/toml-error.ts';
import { hasCode } from '../errors.ts';
import { probeLogDir } from '../health.ts';
import { explainFiles, findJournalFiles } from '../journal/journal-files.ts';
import { JournalError, type JournalSelection, journalctlArgs, runJournalctl } from '../journal/journalctl.ts';
import { ownPaths, shownOwnDirs } from '../own-dirs.ts';
import { readFormats } from '../settings/setting-kinds.ts';
import { readServiceConfig, readTree } from '../settings/settings.ts';
import { type CheckContext, type CheckOutcome, ok, problem, servedLogDir, warning } from './check-result.ts';
import { findWriters } from './open-files.ts';

/** Normal clock difference between machines that write and read logs. */
const FUTURE_MS = 60_000;

/** Time zones differ by multiples of this: a timestamp that is off by one has the wrong zone. */
const QUARTER_MS = 900_000;

/** A running service is expected to log something every day. */
const QUIET_MS = 86_400_000;

/** Names listed in one message. */
const MAX_NAMES = 3;

/** The files of the log directory: their number and age, and which of them cannot be used. */
export async function checkLogFiles({ settings, system }: CheckContext): Promise<CheckOutcome[]> {
  const dir = servedLogDir(settings);
  if (!(await probeLogDir(dir)).ok) return [];
  const formats = readFormats(settings.log.formats);
  const tree = { ...readTree(settings.log), own: await ownPaths(settings, dir) };
  const logs = new LogDir(dir, { zone: createZone(settings.node.timeZone), formats, tree });
  try {
    const files = await logs.details();
    const families = new Set(files.map(({ family }) => family)).size;
    const counted = `${count(families, 'log')} in ${count(files.length, 'file')}`;
    const isOwn = settings.service.logDir === '';
    if (files.length === 0) return [isOwn ? ok('none yet') : empty(dir, settings.log.recursive)];
    const times = checkTimes(files, { nowMs: system.nowMs(), counted, isOwn });
    return [times, ...checkUnreadable(files, { dir, user: system.userName }), ...checkUnknownFormats(files)];
  } finally {
    await logs.close();
  }
}

function empty(dir: string, isRecursive: boolean): CheckOutcome {
  const remedy = 'correct service.log-dir (--log-dir DIR)';
  const below = 'turn on log.recursive if the logs are in directories below it';
  return warning(`no log files in ${dir}`, isRecursive ? remedy : `${remedy}, or ${below}`);
}

function checkTimes(
  files: readonly LogFileDetails[],
  { nowMs, counted, isOwn }: { nowMs: number; counted: string; isOwn: boolean },
): CheckOutcome {
  // The last timestamp of a compressed file is not known without decompressing it; the first one is.
  const timed = files.map(({ name, firstTimeMs, lastTimeMs }) => ({ name, timeMs: lastTimeMs ?? firstTimeMs ?? -1 }));
  const newest = timed.filter(({ timeMs }) => timeMs >= 0).sort((a, b) => b.timeMs - a.timeMs)[0];
  if (!newest) return ok(`${counted}, none with timestamps`);
  const ageMs = nowMs - newest.timeMs;
  if (ageMs < -FUTURE_MS) {
    const ahead = `${counted}; the newest record, in ${newest.name}, is ${formatAge(-ageMs)} in the future`;
    const isZone = Math.abs(-ageMs - Math.round(-ageMs / QUARTER_MS) * QUARTER_MS) < FUTURE_MS;
    const remedy = 'set node.time-zone (--node-time-zone ZONE) to the zone of the log timestamps';
    return problem(
      ahead,
      isZone ? remedy : `${remedy}, and compare the clock of this machine with the clock of the writer`,
    );
  }
  const summary = `${counted}, the newest record is ${formatAge(Math.max(0, ageMs))} old`;
  if (ageMs < QUIET_MS || isOwn) return ok(summary);
  return warning(summary, 'check that the service is running and writes its logs here');
}

function checkUnreadable(
  files: readonly LogFileDetails[],
  { dir, user }: { dir: string; user: string },
): CheckOutcome[] {
  const unreadable = files.filter((file) => file.problem !== null);
  if (unreadable.length === 0) return [];
  const detail = `${count(unreadable.length, 'file')} cannot be read: ${names(unreadable, ({ name, problem: why }) => `${name} (${why})`)}`;
  const paths = unreadable.map(({ name }) => join(dir, name));
  const grant = `if permissions are missing: "setfacl -m u:${user}:r ${paths.slice(0, MAX_NAMES).join(' ')}"`;
  const remedy = `act on the reason given for each; ${grant}`;
  return [unreadable.length === files.length ? problem(detail, remedy) : warning(detail, remedy)];
}

/** Plain text and binary files: shown, but not searchable by time or level. */
function checkUnknownFormats(files: readonly LogFileDetails[]): CheckOutcome[] {
  const unknown = files.filter(({ format }) => format === 'text' || format === 'binary');
  if (unknown.length === 0) return [];
  const shown = names(unknown, ({ name, format }) => `${name} (${format})`);
  return [
    warning(
      `${count(unknown.length, 'file')} of unknown format: ${shown}`,
      'they are shown without timestamps and levels; define them with log.formats, see docs/formats.md',
    ),
  ];
}

function names(files: readonly LogFileDetails[], show: (file: LogFileDetails) => string): string {
  const listed = files.slice(0, MAX_NAMES).map(show).join(', ');
  return files.length > MAX_NAMES ? `${listed} and ${files.length - MAX_NAMES} more` : listed;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

const UNITS: readonly (readonly [string, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

/** A span of time in its largest unit: `3 hours`. */
function formatAge(ms: number): string {
  for (const [unit, length] of UNITS) {
    const number = Math.floor(ms / length);
    if (number > 0) return `${number} ${unit}${number === 1 ? '' : 's'}`;
  }
  return 'less than a second';
}

/** Whether the served log directory can be read. */
export async function checkLogDir({ settings, system }: CheckContext): Promise<CheckOutcome[]> {
  const dir = servedLogDir(settings);
  const isOwn = settings.service.logDir === '';
  const { ok: isReadable, missing, detail } = await probeLogDir(dir);
  if (isReadable) return [ok(detail), ...(await checkOwnDirs(settings, dir))];
  if (missing && isOwn) return [ok(`${dir} does not exist yet; the node creates it at start`)];
  const name = isOwn ? 'logging.dir' : 'service.log-dir';
  const flag = isOwn ? '--logging-dir' : '--log-dir';
  if (missing)
    return [warning(`${detail}: no logs are shown until it does`, `create it, or correct ${name} (${flag} DIR)`)];
  const remedy = detail.endsWith('is not a directory')
    ? `set ${name} (${flag} DIR) to the directory that holds the logs`
    : `grant access: "setfacl -m u:${system.userName}:rx ${dir}", or run the node as the owner of the logs`;
  return [problem(detail, remedy)];
}

/** What a node keeps of members and of its clients is not for everyone who may read logs. */
async function checkOwnDirs(settings: CheckContext['settings'], dir: string): Promise<CheckOutcome[]> {
  const own = await shownOwnDirs(settings, dir);
  if (own.length === 0) return [];
  const detail = `${own.join(', ')}: what the node writes itself is among the logs it shows, so it hides that`;
  return [
    warning(detail, 'set logging.dir (--logging-dir DIR) to a directory outside the log directory and log.roots'),
  ];
}

/** The formats from the settings, each against its samples. */
export async function checkLogFormats({ settings, system }: CheckContext): Promise<CheckOutcome[]> {
  const formats = readFormats(settings.log.formats);
  if (formats.length === 0) return [];
  const zone = createZone(settings.node.timeZone);
  const problems = await checkUserFormats(formats, { zone, nowMs: system.nowMs() });
  return formats.flatMap(({ name, samples }) => {
    const label = `log.formats: format "${name}"`;
    if (samples.length === 0)
      return [warning(`${label} has no samples`, 'add lines of the log as samples, with their time and level')];
    const found = problems.get(name) ?? [];
    if (found.length === 0)
      return [ok(`${label} reads its ${samples.length === 1 ? 'sample' : `${samples.length} samples`}`)];
    return found.map((reason) =>
      problem(
        `${label}: ${reason}`,
        'correct its lines, times or levels, or the sample; docs/formats.md explains layouts',
      ),
    );
  });
}

const MIB = 1024 ** 2;

/** Less than this fills up within minutes when errors are logged. */
const SCARCE_BYTES = 64 * MIB;

/** Whether the node can write its own log, and whether there is enough space for it. */
export async function checkOwnLog({ settings: { logging }, system }: CheckContext): Promise<CheckOutcome[]> {
  try {
    const existing = await nearestDir(logging.dir);
    await probeWriting(existing);
    const where = existing === logging.dir ? `${logging.dir} is writable` : `${logging.dir} can be created`;
    return [ok(where), checkSpace(await system.freeBytes(existing), logging), ...(await checkWriters(logging.dir))];
  } catch (error) {
    const reason = types.isNativeError(error) && 'code' in error ? error.code : error;
    return [
      problem(
        `${logging.dir} is not writable: ${reason}`,
        `set logging.dir (--logging-dir DIR) to another directory, or: "mkdir -p ${logging.dir} && chown ${system.userName} ${logging.dir}"`,
      ),
    ];
  }
}

/** One writer is the running node; several would interfere with each other's rotation. */
async function checkWriters(dir: string): Promise<CheckOutcome[]> {
  const writers = await findWriters(join(dir, 'porthole.log'));
  if (writers.length < 2) return [];
  const message = `${writers.length} nodes write their own log to ${dir} (processes ${[...new Set(writers)].join(', ')})`;
  return [warning(message, 'give each its own directory with logging.dir (--logging-dir DIR)')];
}

/** The directory itself, or the nearest existing one above it. */
async function nearestDir(dir: string): Promise<string> {
  try {
    if ((await stat(dir)).isDirectory()) return dir;
  } catch (error) {
    if (hasCode(error, 'ENOENT') && dirname(dir) !== dir) return nearestDir(dirname(dir));
    throw error;
  }
  throw Object.assign(new Error(`${dir} is not a directory`), { code: 'ENOTDIR' });
}

/** Permissions do not show read-only file systems, quotas and full disks: only writing does. */
async function probeWriting(dir: string): Promise<void> {
  const path = join(dir, `.porthole-doctor-${randomUUID()}`);
  const handle = await open(path, 'wx');
  try {
    await handle.write('porthole doctor was here');
  } finally {
    await handle.close();
    await rm(path, { force: true });
  }
}

function checkSpace(freeBytes: number, { maxFileBytes, keepFiles }: CheckContext['settings']['logging']): CheckOutcome {
  const neededBytes = maxFileBytes * (keepFiles + 1);
  const free = `${formatMiB(freeBytes)} free`;
  if (freeBytes < Math.min(SCARCE_BYTES, neededBytes))
    return problem(`only ${free} on its disk`, 'free some space, or set logging.dir to another disk');
  if (freeBytes < neededBytes)
    return warning(
      `${free} on its disk, but the node's own log may grow to ${formatMiB(neededBytes)}`,
      'lower logging.max-file-size or logging.keep-files, set logging.gzip, or free some space',
    );
  return ok(`${free} on its disk, at most ${formatMiB(neededBytes)} needed`);
}

function formatMiB(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`;
}

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

/** A node watches one directory; other programs of the same user share these limits. */
const FEW_INSTANCES = 16;
const FEW_WATCHES = 1024;

/** Whether the log directory can be watched for changes. If not, new lines are found by polling (`follow.poll`). */
export async function checkFollowing({ settings, system }: CheckContext): Promise<CheckOutcome[]> {
  const dir = servedLogDir(settings);
  const instances = await system.inotifyLimit('max_user_instances');
  const watches = await system.inotifyLimit('max_user_watches');
  if ((await probeLogDir(dir)).ok) {
    const refusal = tryToWatch(dir);
    if (refusal !== undefined)
      return [
        warning(
          `${dir} cannot be watched (${refusal}): it is polled for new lines every ${settings.follow.pollMs} ms`,
          'as root: "sysctl fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=524288"',
        ),
      ];
  }
  if (instances === undefined || watches === undefined) return [ok('the system reports new lines')];
  const shown = `inotify allows ${instances} instances and ${watches} watches per user; a node uses one of each`;
  if (instances >= FEW_INSTANCES && watches >= FEW_WATCHES) return [ok(shown)];
  return [
    warning(
      `${shown}, but other programs of the user may use up the rest`,
      'as root: "sysctl fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=524288"',
    ),
  ];
}

function tryToWatch(dir: string): string | undefined {
  try {
    watch(dir).close();
    return undefined;
  } catch (error) {
    return types.isNativeError(error) && 'code' in error ? String(error.code) : String(error);
  }
}

/** Whether the configuration file of the service can be shown. */
export async function checkServiceConfig({ settings }: CheckContext): Promise<CheckOutcome[]> {
  const wanted = readServiceConfig(settings);
  if (!wanted) return [];
  const file = [wanted.configFile, ...wanted.configFiles].filter((path) => path !== '').join(', ');
  try {
    const { files, problems } = await readConfigFiles(wanted);
    const view = await viewConfig(files, settings.config.secretKeys);
    const { flat } = view.settings;
    const secrets = flat.filter(({ secret }) => secret).length;
    const what =
      view.format === 'text'
        ? 'is in no known format and shown as text, its secrets masked by the rules for text'
        : `is valid ${view.format === 'toml' ? 'TOML' : view.format}, ${flat.length} keys, ${secrets} of them masked as secrets`;
    const left = [...problems, ...view.problems].map((each) =>
      warning(each, 'correct it, or set service.config-files and service.config-format'),
    );
    return [ok(`${file} ${what}`), ...left];
  } catch (error) {
    if (error instanceof TomlError)
      return [problem(`${file}: ${error.message}`, `correct it, or set service.config-file (--service-config FILE)`)];
    if (!(error instanceof PortholeError)) throw error;
    return [
      problem(
        error.message,
        'set service.config-file (--service-config FILE) to a file that is readable for the user that runs the node',
      ),
    ];
  }
}
