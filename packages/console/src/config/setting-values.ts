import type {
  CallOptions,
  ClusterState,
  MemberReport,
  NodeSettings,
  SettingEntry,
  SettingJson,
} from '@porthole/client';
import { toProblem } from '../state/to-problem.ts';
import { formatCount, formatCounted } from '../ui/format.ts';

/** Replaces a secret. */
export const MASK = '******';

/** The note after a line of a configuration. */
interface SettingMark {
  text: string;
  isChanged: boolean;
}

/** Settings by their key. */
export type SettingsByKey = ReadonlyMap<string, SettingEntry>;

/** Where a value comes from, as shown to the user. */
export const SOURCE_LABELS: Readonly<Record<SettingEntry['source'], string>> = {
  default: 'default',
  file: 'file',
  env: 'environment',
  flag: 'flag',
  option: 'set by the program',
};

export function settingsByKey(settings: readonly SettingEntry[]): SettingsByKey {
  return new Map(settings.map((entry) => [entry.key, entry]));
}

/** `changed, default 5s · file`; `null` for values at their default or without a known default. */
export function settingMark(entry: SettingEntry | undefined): SettingMark | null {
  if (entry === undefined) return null;
  if (entry.changed)
    return { text: `changed, default ${defaultLabel(entry)} · ${SOURCE_LABELS[entry.source]}`, isChanged: true };
  // Shown because the file does not contain it.
  if (entry.source !== 'default' && entry.source !== 'file')
    return { text: SOURCE_LABELS[entry.source], isChanged: false };
  return null;
}

/** Summary of a whole configuration: `61 keys, 9 changed from default`. */
export function countSettings(settings: readonly SettingEntry[]): string {
  const keys = formatCounted(settings.length, 'key');
  if (settings.every(({ changed }) => changed === null)) return keys;
  return `${keys}, ${formatCount(settings.filter(({ changed }) => changed).length)} changed from default`;
}

export function defaultLabel({ default: defaultValue }: Pick<SettingEntry, 'default'>): string {
  return defaultValue === null ? 'unknown' : showValue(defaultValue).text;
}

/** A value as it is shown. */
export interface ShownValue {
  text: string;
  /** `absent` and `empty` describe the value; they are not the value itself. */
  kind: 'value' | 'absent' | 'empty' | 'secret';
  /** The first characters of a secret's fingerprint. */
  fingerprint: string | null;
}

/** Enough to distinguish two fingerprints; the title has all of it. */
const SHORT_FINGERPRINT = 4;

/** How the cluster encodes a masked value with its fingerprint. */
const FINGERPRINT = /^(.*) \(fingerprint (\S+)\)$/s;

/** Secrets stay masked: their values never reach the browser. */
export function showValue(value: SettingJson | null): ShownValue {
  if (value === null) return { text: 'absent', kind: 'absent', fingerprint: null };
  if (value === '') return { text: 'empty', kind: 'empty', fingerprint: null };
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (!text.includes(MASK)) return { text, kind: 'value', fingerprint: null };
  const [, masked = text, fingerprint = null] = FINGERPRINT.exec(text) ?? [];
  return { text: masked, kind: 'secret', fingerprint };
}

export function shortFingerprint(fingerprint: string): string {
  return fingerprint.slice(0, SHORT_FINGERPRINT);
}

interface DiskNotice {
  text: string;
  /** Which keys changed, or why the file is invalid. */
  detail: string | null;
}

/** Keys listed by name; the rest is a count. */
const MAX_NAMED = 8;

/** The notice about the file on disk; `null` if the file has not changed since start, or there is none. */
export function diskNotice({
  observes,
  file,
  disk,
}: Pick<NodeSettings, 'observes' | 'file' | 'disk'>): DiskNotice | null {
  switch (disk.state) {
    case 'none':
    case 'same':
      return null;
    case 'changed':
      return { text: changedText(observes, disk.differs.length), detail: nameKeys(disk) };
    case 'broken':
      return { text: 'File on disk is invalid: the node could not start with it', detail: disk.detail };
    case 'missing':
      return { text: 'File on disk is missing', detail: disk.detail ?? file };
  }
}

/** Whether a service has reloaded its file is unknown; the node itself never does. */
function changedText(observes: NodeSettings['observes'], count: number): string {
  const keys = count === 0 ? '' : count === 1 ? ': 1 key' : `: ${count} keys`;
  if (observes === 'self') return `File on disk differs${keys} · restart needed`;
  return `File changed since start${keys} · the service runs with the old values until it is restarted`;
}

function nameKeys({ differs, detail }: NodeSettings['disk']): string | null {
  if (differs.length === 0) return detail;
  const rest = differs.length - MAX_NAMED;
  return differs.slice(0, MAX_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** The notice about a service that runs with other values than its files have, or does not say with which. */
export function runningNotice({ running }: Pick<NodeSettings, 'running'>): DiskNotice | null {
  if (running === undefined || running.state === 'same') return null;
  if (running.state === 'failed') return { text: 'What the service runs with is unknown', detail: running.detail };
  const { differences } = running;
  const shown = differences.slice(0, MAX_NAMED).map(({ key, onDisk, running: value }) => {
    return `${key}: ${showValue(onDisk).text} → ${showValue(value).text}`;
  });
  const rest = differences.length - shown.length;
  const text = `The service runs with other values than its files have: ${formatCounted(differences.length, 'key')}`;
  return { text, detail: shown.join(', ') + (rest > 0 ? ` and ${rest} more` : '') };
}

/** What is known about one node's configuration. */
export interface KnownConfig {
  id: string;
  /** TOML with masked secrets; `null` if there is none, and the report says why. */
  text: string | null;
  report: MemberReport;
  settings: NodeSettings | null;
  /** The text of the service's files, masked; `null` if it is TOML, or not known. */
  source: string | null;
  /** Why there are no settings: members that only implement the LinDB contract have none. */
  settingsProblem: { code: string; detail: string } | null;
}

type LoadOptions = Pick<ClusterState, 'config' | 'member'>;

/** Loads text and settings. For a node that is not responding: the last known text, without settings. */
export async function loadNodeConfig(
  cluster: LoadOptions,
  id: string,
  options: CallOptions = {},
): Promise<KnownConfig> {
  const [{ configs }, settings] = await Promise.all([
    cluster.config({ nodes: [id] }, options),
    loadSettings(cluster, id, options),
  ]);
  const found = configs.find((one) => one.id === id);
  if (found === undefined) return { id, text: null, source: null, report: unknownReport(id), ...settings };
  const source = settings.settings?.format === undefined ? null : await loadSource(cluster, id, options);
  return { id, text: found.config?.config ?? null, source, report: found.report, ...settings };
}

/** `null` if it cannot be loaded: the TOML made from it is shown in any case. */
async function loadSource(
  cluster: Pick<LoadOptions, 'member'>,
  id: string,
  options: CallOptions,
): Promise<string | null> {
  try {
    return (await cluster.member(id).config({ ...options, format: 'source' })).config;
  } catch {
    // The TOML is shown instead, and a node that fails altogether is reported with it.
    options.signal?.throwIfAborted();
    return null;
  }
}

/** The settings, or why there are none; rejects only if the signal is aborted. */
export async function loadSettings(
  cluster: Pick<LoadOptions, 'member'>,
  id: string,
  options: CallOptions = {},
): Promise<Pick<KnownConfig, 'settings' | 'settingsProblem'>> {
  try {
    return { settings: await cluster.member(id).settings(options), settingsProblem: null };
  } catch (thrown) {
    options.signal?.throwIfAborted();
    const { code, detail } = toProblem(thrown);
    return { settings: null, settingsProblem: { code, detail } };
  }
}

function unknownReport(id: string): MemberReport {
  const detail = `no node named "${id}" in the cluster`;
  return { id, outcome: 'gone', detail, elapsedMs: 0, count: 0, asOfMs: null };
}
