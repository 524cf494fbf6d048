import { join } from 'node:path';
import { checkUserFormats, createZone, LogDir, type LogFileDetails } from '@porthole/logs';
import { probeLogDir } from '../health.ts';
import { ownPaths, shownOwnDirs } from '../own-dirs.ts';
import { readFormats } from '../settings/format-kind.ts';
import { readTree } from '../settings/log-tree.ts';
import { type CheckContext, type CheckOutcome, ok, problem, servedLogDir, warning } from './check-result.ts';

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
