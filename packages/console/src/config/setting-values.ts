import type { NodeSettings, SettingEntry, SettingJson } from '@porthole/client';
import { formatCount, formatCounted, showValue } from '../ui/format.ts';

/** Where a value comes from, as shown to the user. */
const SOURCE_LABELS: Readonly<Record<SettingEntry['source'], string>> = {
  default: 'default',
  file: 'file',
  env: 'environment',
  flag: 'flag',
  option: 'set by the program',
};

/** `changed, default 5s · file`, `redis.conf:2`; `null` for values at their default or without a known default. */
export function settingNote(entry: SettingEntry | undefined): string | null {
  if (entry === undefined) return null;
  if (entry.file !== undefined) return `${entry.file.replace(/^.*\//, '')}:${entry.line}`;
  const source = SOURCE_LABELS[entry.source];
  if (entry.changed) return `changed, default ${showValue(entry.default).text} · ${source}`;
  // Shown because the file does not contain it.
  return entry.source === 'default' || entry.source === 'file' ? null : source;
}

/** Summary of a whole configuration: `61 keys, 9 changed from default`. */
export function countSettings(settings: readonly SettingEntry[]): string {
  const keys = formatCounted(settings.length, 'key');
  if (settings.every(({ changed }) => changed === null)) return keys;
  return `${keys}, ${formatCount(settings.filter(({ changed }) => changed).length)} changed from default`;
}

interface SettingsNotice {
  text: string;
  /** Which keys changed, or why the file is invalid. */
  detail: string | null;
}

/** Keys listed by name; the rest is a count. */
const MAX_NAMED = 8;

/** That the file on disk, or what the service runs with, is not what is shown; empty if all of it is the same. */
export function settingsNotices({ observes, file, disk, running, problems = [] }: NodeSettings): SettingsNotice[] {
  const notices: SettingsNotice[] = [];
  if (disk.state === 'changed') {
    const count = disk.differs.length === 0 ? '' : `: ${formatCounted(disk.differs.length, 'key')}`;
    // Whether a service has reloaded its file is unknown; the node itself never does.
    const text =
      observes === 'self'
        ? `File on disk differs${count} · restart needed`
        : `File changed since start${count} · the service runs with the old values until it is restarted`;
    const changes = (disk.changes ?? disk.differs.map((key) => ({ key, atStart: undefined, onDisk: undefined }))).map(
      ({ key, atStart, onDisk }) =>
        atStart === undefined || onDisk === undefined ? key : `${key}: ${arrow(atStart, onDisk)}`,
    );
    notices.push({ text, detail: changes.length === 0 ? disk.detail : nameSome(changes) });
  }
  if (disk.state === 'broken')
    notices.push({ text: 'File on disk is invalid: the node could not start with it', detail: disk.detail });
  if (disk.state === 'missing') notices.push({ text: 'File on disk is missing', detail: disk.detail ?? file });
  if (running?.state === 'failed')
    notices.push({ text: 'What the service runs with is unknown', detail: running.detail });
  if (running?.state === 'differs') {
    const { differences } = running;
    const text = `The service runs with other values than its files have: ${formatCounted(differences.length, 'key')}`;
    const changes = differences.map(({ key, onDisk, running: value }) => `${key}: ${arrow(onDisk, value)}`);
    notices.push({ text, detail: nameSome(changes) });
  }
  return [...notices, ...problems.map((text) => ({ text, detail: null }))];
}

/** `6379 → 6380` */
function arrow(before: SettingJson | null, after: SettingJson | null): string {
  return `${showValue(before).text} → ${showValue(after).text}`;
}

function nameSome(texts: readonly string[]): string {
  const rest = texts.length - MAX_NAMED;
  return texts.slice(0, MAX_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
