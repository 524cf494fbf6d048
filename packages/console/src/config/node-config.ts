import {
  type CallOptions,
  type Client,
  type ClusterConfig,
  type MemberReport,
  type NodeSettings,
  PortholeError,
} from '@porthole/client';
import type { ConfigPeriod, ConfigVersion } from '@porthole/contract';
import type { ShownEvent } from '../events/event-text.ts';
import { type Problem, toProblem } from '../state/to-problem.ts';
import { formatCounted, showValue } from '../ui/format.ts';

/** What is known about one node's configuration, now and before. */
export interface NodeConfigState {
  id: string;
  /** TOML with masked secrets; `null` if there is none, and the report says why. */
  text: string | null;
  /** Of its text; one that does not respond is shown as it was recorded. */
  report: MemberReport;
  /** When the node started, and so read its file. */
  startedMs: number | null;
  settings: NodeSettings | null;
  /** Why there are no settings: members that only implement the LinDB contract have none. */
  settingsProblem: Problem | null;
  /** The text of the service's files, masked; `null` if it is TOML, or not known. */
  source: string | null;
  /** Newest first; empty if none is known. */
  versions: Version[];
  /** Whether there are no older ones. */
  isComplete: boolean;
  /** Why there are no versions. */
  historyProblem: Problem | null;
  /** When its file was seen to differ from what the node runs with. */
  editedMs: number | null;
}

/** A configuration that the node has had for some time. */
export interface Version extends ConfigPeriod {
  /** How it came about: `file edited`, `restart 0.6.0 → 0.6.1`, `first seen`. */
  cause: string;
  /** `3 keys · storage.wal.dir`; empty if it is not known what changed. */
  summary: string;
}

/** Versions listed; the find box searches these. */
const MAX_VERSIONS = 200;

/** A change while the node was down is noticed when it starts, and so is another version of the program. */
const START_MS = 10_000;

type ConfigClient = Pick<Client, 'settings' | 'configHistory' | 'node'>;

/** Events about configurations of a node; they only add how a change came about. */
export type LoadConfigEvents = (id: string, signal: AbortSignal | undefined) => Promise<readonly ShownEvent[]>;

/** Loads text, settings and history. For a node that is not responding: as others have recorded it, without settings. */
export async function loadNodeConfig(
  client: ConfigClient,
  id: string,
  loadEvents: LoadConfigEvents,
  options: CallOptions = {},
): Promise<NodeConfigState> {
  const node = client.node(id);
  const [configs, history, events] = await Promise.allSettled([
    client.settings({ nodes: [id] }, options),
    client.configHistory({ nodes: [id], limit: MAX_VERSIONS }, options),
    loadEvents(id, options.signal),
  ]);
  options.signal?.throwIfAborted();
  // Each of the others is shown without the rest.
  if (configs.status === 'rejected') throw configs.reason;
  const found = configs.value.configs.find((one) => one.id === id);
  const format = found?.settings?.format;
  // Without the source, the TOML made of it is shown.
  const source = format === undefined ? null : await node.config({ ...options, format: 'source' }).catch(() => null);
  const known = settledValue(history)?.nodes.find((one) => one.id === id)?.history ?? null;
  const past = settledValue(history)?.members.find((member) => member.id === id);
  // It responds, but not in time: what was known of its history stays until it is loaded again.
  if (!known && found?.report.outcome === 'ok' && past && /^(timeout|refused|failed)$/.test(past.outcome))
    throw new PortholeError('UNREACHABLE', `the history of ${id}: ${past.detail ?? past.outcome}`);
  const isComplete = known?.isComplete ?? false;
  return {
    id,
    text: found?.config?.config ?? null,
    report: found?.report ?? unknownReport(id),
    startedMs: found?.config?.node.onlineTime ?? null,
    settings: found?.settings ?? null,
    settingsProblem: found?.settings ? null : noSettings(found),
    source: source?.config ?? null,
    versions: toVersions(known?.periods ?? [], settledValue(events) ?? [], isComplete),
    isComplete,
    historyProblem: known ? null : (settledProblem(history) ?? noHistory(past)),
    editedMs: settledValue(events)?.find(({ kind }) => kind === 'config-file-differs')?.timeMs ?? null,
  };
}

function settledValue<Value>(result: PromiseSettledResult<Value>): Value | null {
  return result.status === 'fulfilled' ? result.value : null;
}

function settledProblem(result: PromiseSettledResult<unknown>): Problem | null {
  return result.status === 'rejected' ? toProblem(result.reason) : null;
}

function unknownReport(id: string): MemberReport {
  const detail = `no node named "${id}" in the cluster`;
  return { id, outcome: 'gone', detail, elapsedMs: 0, count: 0, asOfMs: null };
}

/** A member with only the routes of the contract has a configuration, but no keys. */
function noSettings(found: ClusterConfig['configs'][number] | undefined): Problem {
  const isContractOnly = found?.config != null && found.report.asOfMs === null;
  if (isContractOnly)
    return toProblem(new PortholeError('NOT_SUPPORTED', 'the node has only the routes of the contract'));
  return toProblem(new PortholeError('UNREACHABLE', found?.report.detail ?? 'the node is not known'));
}

function noHistory(report: MemberReport | undefined): Problem {
  return toProblem(new Error(report?.detail ?? report?.outcome ?? 'the node is not known'));
}

/** The periods with how each came about, as far as the events of the node say. */
export function toVersions(
  periods: readonly ConfigPeriod[],
  events: readonly ShownEvent[],
  isComplete: boolean,
): Version[] {
  return periods.map((period) => ({
    ...period,
    cause: causeOf(period, events, isComplete),
    summary: summaryOf(period),
  }));
}

function causeOf(
  { version, fromMs, changes }: ConfigPeriod,
  events: readonly ShownEvent[],
  isComplete: boolean,
): string {
  if (changes === null) return isComplete ? 'first seen' : 'oldest known';
  // A content that comes back has the version it had.
  const [change] = events
    .filter(({ kind, fields }) => kind === 'config-changed' && fields.config === version)
    .sort((a, b) => Math.abs(a.timeMs - fromMs) - Math.abs(b.timeMs - fromMs));
  if (change?.fields.how === 'edit') return 'file edited';
  const other = events.find(
    ({ kind, timeMs }) => kind === 'version-changed' && Math.abs(timeMs - fromMs) < START_MS,
  )?.fields;
  if (other) return `restart ${String(other.before)} → ${String(other.version)}`;
  return change?.fields.how === 'restart' ? 'restart' : 'changed';
}

function summaryOf({ changes }: ConfigPeriod): string {
  if (!changes) return '';
  const [first] = changes;
  if (!first) return 'only comments or layout';
  const added = changes.every(({ before }) => before === null) ? ' added' : '';
  const removed = changes.every(({ after }) => after === null) ? ' removed' : '';
  return `${formatCounted(changes.length, 'key')}${added}${removed} · ${first.key}`;
}

/** Whether a version has a change whose key or value contains a text. */
export function matchesVersion({ changes, cause }: Version, text: string): boolean {
  const wanted = text.toLowerCase();
  return (
    (changes ?? []).some(({ key, before, after }) =>
      [key, showValue(before).text, showValue(after).text].some((part) => part.toLowerCase().includes(wanted)),
    ) || cause.includes(wanted)
  );
}

/** The version that the node had at a time; without a time, the current one. */
export function versionAt(versions: readonly Version[], atMs: number | null): Version | undefined {
  return atMs === null ? versions[0] : (versions.find(({ fromMs }) => fromMs <= atMs) ?? versions.at(-1));
}

/** Its text and the one before; of a node that does not respond, as it was recorded. */
export async function loadVersions(
  client: Pick<Client, 'node'>,
  { id }: Pick<NodeConfigState, 'id'>,
  names: readonly string[],
  options: CallOptions,
): Promise<ConfigVersion[]> {
  const node = client.node(id);
  return Promise.all(names.map((version) => node.configVersion(version, options)));
}
