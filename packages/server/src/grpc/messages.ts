import {
  type ClusterConfig,
  type ClusterConfigHistory,
  type ClusterDigest,
  type ClusterEnd,
  type ClusterFields,
  type ClusterFollowItem,
  type ClusterHistogram,
  type ClusterItem,
  type ClusterLogFiles,
  type ClusterRecord,
  type ClusterTop,
  type ConfigPeriod,
  type ConfigVersion,
  type Coverage,
  contextJson,
  type MemberReport,
  type NodeConfig,
  type NodeDescription,
  type NodeObject,
  type NodeSettings,
  type RunningSettings,
} from '@porthole/contract';
import type { OpenLog } from '@porthole/logs';
import type { Digest, Fields, FoundRecord, Histogram, Top } from '@porthole/logs/types';
import type {
  ClusterPartMessage,
  ConfigPeriodMessage,
  CountBucketMessage,
  CountLogsResponseMessage,
  CountValuesResponseMessage,
  CoverageMessage,
  DescribeLogsResponseMessage,
  DescribeResponseMessage,
  DigestGroupMessage,
  DigestLogsResponseMessage,
  FieldSummaryMessage,
  FollowItemMessage,
  GetConfigHistoryResponseMessage,
  GetConfigResponseMessage,
  GetConfigVersionResponseMessage,
  GetSettingsResponseMessage,
  Level as LevelName,
  ListFieldsResponseMessage,
  MemberReportMessage,
  NodeCountMessage,
  NodeMessage,
  RecordMessage,
  SearchEndMessage,
  SearchItemMessage,
  StatLogResponseMessage,
  ValueCountMessage,
} from './generated/messages.ts';

/*
 * Messages have the fields of our objects. Here is what differs: levels are an enumeration, values of any shape are JSON
 * text, lists are never absent, maps are lists, and text is valid Unicode. Fields that a message does not have are not
 * sent.
 */

/** Context records are separate items after their match: together they could exceed the message size clients accept. */
export function searchItemMessages(item: ClusterItem): SearchItemMessage[] {
  if (item.type === 'end') return [{ end: endMessage(item) }];
  const { before = [], after = [] } = item;
  const ofMember = { node: item.node };
  return [
    { record: recordMessage(item) },
    ...before.map((record) => ({ before: { ...recordMessage(record), ...ofMember } })),
    ...after.map((record) => ({ after: { ...recordMessage(record), ...ofMember } })),
  ];
}

export function followItemMessage(item: ClusterFollowItem): FollowItemMessage {
  switch (item.type) {
    case 'record':
      return { node: item.node, record: recordMessage(item) };
    case 'member':
      return { node: item.node, member: { node: item.node, report: reportMessage(item.report) } };
    case 'position':
    case 'text':
      throw new Error('nobody asked for this');
    case 'reconnecting':
      throw new Error('only clients emit this');
    default:
      return { node: 'node' in item ? item.node : '', [item.type]: item };
  }
}

function recordMessage(record: FoundRecord | ClusterRecord): RecordMessage {
  const { file, offset, bytes, cursor, timeMs, level, source, tags, message, raw, fields } = record;
  return {
    file,
    offset,
    bytes,
    cursor,
    timeMs,
    level: levelName(level),
    source: source && wellFormed(source),
    tags: tags?.map(wellFormed) ?? [],
    message: wellFormed(message),
    contextJson: contextJson(record),
    cut: record.cut ?? false,
    continued: record.continued ?? false,
    unfinished: record.unfinished ?? false,
    raw,
    fieldsJson: fields && wellFormed(JSON.stringify(fields)),
    // Corrected times may have fractions.
    ...('node' in record && { node: record.node, atMs: floored(record.atMs), isUnsure: record.isUnsure }),
  };
}

function endMessage(end: ClusterEnd): SearchEndMessage {
  const { problems = [], duplicates = [], membership, scannedFiles = 0 } = end;
  return {
    ...end,
    scannedFiles,
    problems,
    duplicates,
    cluster: { ...partMessage(end), membership: { ...membership, asOfMs: Math.floor(membership.asOfMs) } },
  };
}

/** What a node read that answered alone. */
function readMessage(end: NonNullable<ClusterHistogram['end']>): SearchEndMessage {
  return { ...end, duplicates: end.duplicates ?? [] };
}

export function levelName(level: FoundRecord['level'] | null | 'NONE'): LevelName {
  return level && level !== 'NONE' ? `LEVEL_${level}` : 'LEVEL_UNSPECIFIED';
}

export function countsMessage(histogram: ClusterHistogram): CountLogsResponseMessage {
  const { bucketMs, buckets, untimed } = histogram;
  return { bucketMs, buckets: buckets.map(bucketMessage), untimed, ...scopeMessage(histogram) };
}

export function digestMessage(digest: ClusterDigest): DigestLogsResponseMessage {
  const { groups, totalGroups, ungrouped, baseline } = digest;
  return {
    groups: groups.map(groupMessage),
    totalGroups,
    ungrouped,
    baseline: baseline && { ...baseline, detail: baseline.detail && wellFormed(baseline.detail) },
    ...scopeMessage(digest),
  };
}

export function fieldsMessage(listed: ClusterFields): ListFieldsResponseMessage {
  const { fields, totalFields, records, isSample } = listed;
  return { fields: fields.map(fieldMessage), totalFields, records, isSample, ...scopeMessage(listed) };
}

export function topMessage(top: ClusterTop): CountValuesResponseMessage {
  const { by, values, others, missing, distinct, isExact, bucketMs } = top;
  const counts = { others, missing, distinct, isExact, bucketMs };
  return { by: wellFormed(by), values: values.map(valueMessage), ...counts, ...scopeMessage(top) };
}

/** What was covered. */
function scopeMessage({ end, ...count }: Pick<ClusterHistogram, 'end'> & ClusterPart) {
  return { cluster: partMessage(count), ...(end && { end: readMessage(end) }) };
}

/** An item of a count, with the number of each node. */
type Counted<Item> = Item & { nodes: Readonly<Record<string, number>> };

function fieldMessage({ nodes, ...field }: Counted<Fields['fields'][number]>): FieldSummaryMessage {
  const examples = field.examples.map(wellFormed);
  return { ...field, name: wellFormed(field.name), examples, nodes: nodeCounts(nodes) };
}

function valueMessage({ nodes, buckets = [], ...value }: Counted<Top['values'][number]>): ValueCountMessage {
  return { ...value, value: wellFormed(value.value), buckets, nodes: nodeCounts(nodes) };
}

function bucketMessage({ startMs, counts, nodes }: Counted<Histogram['buckets'][number]>): CountBucketMessage {
  const levels = Object.keys(counts) as (keyof typeof counts)[];
  return {
    startMs,
    counts: levels.map((level) => ({ level: levelName(level), count: counts[level] ?? 0 })),
    nodes: nodeCounts(nodes),
  };
}

function groupMessage({ nodes, ...group }: Counted<Digest['groups'][number]>): DigestGroupMessage {
  return {
    ...group,
    level: levelName(group.level),
    source: group.source && wellFormed(group.source),
    shape: group.shape && wellFormed(group.shape),
    isNewUnknown: group.isNewUnknown === true,
    sample: recordMessage(group.sample),
    nodes: nodeCounts(nodes),
  };
}

/** Lone surrogates, which JSON in a log line can contain (`"\ud83d"`). */
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Text that can be encoded as UTF-8: strict clients reject a whole message for one invalid string. */
export function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATES, '\ufffd');
}

/** What the responses about the cluster have in common. */
type ClusterPart = Pick<ClusterHistogram, 'members' | 'archive' | 'coverage'> &
  Partial<Pick<ClusterHistogram, 'counted'>>;

function partMessage({ members, archive, counted, coverage }: ClusterPart): ClusterPartMessage {
  return {
    members: members.map(reportMessage),
    archive,
    countedFromMs: floored(counted?.fromMs),
    countedToMs: floored(counted?.toMs),
    coverage: coverage && coverageMessage(coverage),
  };
}

function coverageMessage({ askedFromMs, askedToMs, missing, isComplete }: Coverage): CoverageMessage {
  return {
    askedFromMs: floored(askedFromMs),
    askedToMs: floored(askedToMs),
    missing: missing.map((part) => ({
      ...part,
      detail: part.detail && wellFormed(part.detail),
      asOfMs: floored(part.asOfMs),
    })),
    isComplete,
  };
}

function reportMessage(report: MemberReport): MemberReportMessage {
  const { detail, elapsedMs, isPartial = false, state = '', coveredFromMs, coveredToMs, archive } = report;
  return {
    ...report,
    detail: detail && wellFormed(detail),
    elapsedMs: Math.round(elapsedMs),
    asOfMs: floored(report.asOfMs),
    missingMs: floored(report.missingMs),
    isPartial,
    state,
    coveredFromMs: floored(coveredFromMs),
    coveredToMs: floored(coveredToMs),
    archive: archive && {
      ...archive,
      beforeMs: floored(archive.beforeMs),
      shippedFromMs: floored(archive.shippedFromMs),
      shippedToMs: floored(archive.shippedToMs),
    },
  };
}

function floored(timeMs: number | null | undefined): number | null | undefined {
  return typeof timeMs === 'number' ? Math.floor(timeMs) : timeMs;
}

/** By id. */
function nodeCounts(nodes: Readonly<Record<string, number>>): NodeCountMessage[] {
  return Object.entries(nodes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([node, count]) => ({ node, count }));
}

export function descriptionMessage(description: NodeDescription): DescribeResponseMessage {
  const { node, problems, role, labels } = description;
  return {
    ...description,
    node: nodeMessage(node),
    problems,
    role,
    labels: Object.entries(labels).map(([name, value]) => ({ name, value })),
  };
}

export function configMessage({ config, node }: NodeConfig): GetConfigResponseMessage {
  return { config, node: nodeMessage(node) };
}

export function settingsMessage({ configs }: ClusterConfig): GetSettingsResponseMessage {
  return {
    nodes: configs.map(({ id, role, settings, report }) => ({
      id,
      role,
      isKnown: settings !== null,
      report: reportMessage(report),
      ...(settings === null ? NO_SETTINGS : nodeSettingsMessage(settings)),
    })),
  };
}

const NO_SETTINGS = { observes: '', settings: [], problems: [] };

function nodeSettingsMessage(given: NodeSettings) {
  const { observes, file, settings, disk, format, problems = [], running } = given;
  return {
    observes,
    file,
    settings: settings.map(({ key, value, default: usual, changed, source, secret, file: origin, line }) => ({
      key,
      valueJson: JSON.stringify(value),
      defaultJson: usual === null ? null : JSON.stringify(usual),
      changed,
      source,
      secret,
      ...(origin !== undefined && { file: origin, line }),
    })),
    disk: {
      ...disk,
      changes: (disk.changes ?? []).map(({ key, atStart, onDisk }) => ({
        key,
        atStartJson: atStart === null ? null : JSON.stringify(atStart),
        onDiskJson: onDisk === null ? null : JSON.stringify(onDisk),
      })),
    },
    ...(format !== undefined && { format }),
    problems,
    ...(running && { running: runningMessage(running) }),
  };
}

export function historyMessage({ nodes, members }: ClusterConfigHistory): GetConfigHistoryResponseMessage {
  return {
    nodes: nodes.map(({ id, history }) => ({
      id,
      periods: (history?.periods ?? []).map(periodMessage),
      isComplete: history?.isComplete ?? false,
      isKnown: history !== null,
    })),
    members: members.map(reportMessage),
  };
}

function periodMessage({ changes, ...period }: ConfigPeriod): ConfigPeriodMessage {
  return {
    ...period,
    changes: (changes ?? []).map(({ key, before, after }) => ({
      key: wellFormed(key),
      beforeJson: before === null ? null : wellFormed(JSON.stringify(before)),
      afterJson: after === null ? null : wellFormed(JSON.stringify(after)),
    })),
    isCompared: changes !== null,
  };
}

export function versionMessage({ version, config, settings }: ConfigVersion): GetConfigVersionResponseMessage {
  const past = settings.map(({ key, value }) => ({
    key: wellFormed(key),
    valueJson: wellFormed(JSON.stringify(value)),
  }));
  return { version, config: wellFormed(config), settings: past };
}

function runningMessage({ differences, ...running }: RunningSettings) {
  return {
    ...running,
    differences: differences.map(({ key, onDisk, running: value }) => ({
      key,
      onDiskJson: JSON.stringify(onDisk),
      runningJson: JSON.stringify(value),
    })),
  };
}

function nodeMessage({ onlineTime, ...node }: NodeObject): NodeMessage {
  return { ...node, onlineTimeMs: onlineTime };
}

export function logsMessage({ files, ...part }: ClusterLogFiles): DescribeLogsResponseMessage {
  return {
    logs: files.map(({ learned: _learned, ...file }) => ({
      ...file,
      modifiedMs: floored(file.modifiedMs),
      firstTimeMs: floored(file.firstTimeMs),
      lastTimeMs: floored(file.lastTimeMs),
    })),
    cluster: partMessage(part),
  };
}

export function statMessage({ name, sizeBytes, modifiedMs, etag }: OpenLog): StatLogResponseMessage {
  return { name, sizeBytes, modifiedMs, etag };
}
