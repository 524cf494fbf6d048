import {
  type ClusterDigest,
  type ClusterEnd,
  type ClusterFields,
  type ClusterHistogram,
  type ClusterItem,
  type ClusterRecord,
  type ClusterTop,
  type Coverage,
  contextJson,
  type MemberReport,
  type NodeConfig,
  type NodeDescription,
  type NodeObject,
  type NodeSettings,
  type ShippingState,
} from '@porthole/contract';
import type { LogFileDetails, OpenLog } from '@porthole/logs';
import type {
  Digest,
  DigestBaseline,
  DigestGroup,
  FieldSummary,
  Fields,
  FollowItem,
  FoundRecord,
  Histogram,
  HistogramBucket,
  SearchEnd,
  SearchItem,
  Top,
  TopValue,
} from '@porthole/logs/types';
import type {
  ClusterPartMessage,
  CountBucketMessage,
  CountLogsResponseMessage,
  CountValuesResponseMessage,
  CoverageMessage,
  DescribeResponseMessage,
  DigestBaselineMessage,
  DigestGroupMessage,
  DigestLogsResponseMessage,
  FieldSummaryMessage,
  FollowItemMessage,
  GetConfigResponseMessage,
  GetSettingsResponseMessage,
  Level as LevelName,
  ListFieldsResponseMessage,
  LogFileMessage,
  MemberReportMessage,
  NodeCountMessage,
  NodeMessage,
  RecordMessage,
  SearchEndMessage,
  SearchItemMessage,
  StatLogResponseMessage,
  ValueCountMessage,
} from './generated/messages.ts';

/** Context records are separate items after their match: together they could exceed the message size clients accept. */
export function searchItemMessages(item: SearchItem): SearchItemMessage[] {
  if (item.type === 'end') return [{ end: endMessage(item) }];
  const { before = [], after = [] } = item;
  return [
    { record: recordMessage(item) },
    ...before.map((record) => ({ before: recordMessage(record) })),
    ...after.map((record) => ({ after: recordMessage(record) })),
  ];
}

export function followItemMessage(item: FollowItem): FollowItemMessage {
  switch (item.type) {
    case 'record':
      return { record: recordMessage(item) };
    case 'rotated':
      return { rotated: item };
    case 'truncated':
      return { truncated: { file: item.file, lost_bytes: item.lostBytes } };
    case 'gap':
      return { gap: item };
    case 'missing':
      return { missing: item };
    case 'end':
      return { end: item };
    case 'skipped':
      return { skipped: { count: item.count, detail: item.detail } };
    case 'position':
      throw new Error('nobody asked for this');
    case 'reconnecting':
      throw new Error('only clients emit this');
  }
}

function recordMessage(record: FoundRecord): RecordMessage {
  const { file, offset, bytes, cursor, timeMs, level, source, tags, message, raw } = record;
  return {
    file,
    offset,
    bytes,
    cursor,
    time_ms: timeMs,
    level: levelName(level),
    source: source === undefined ? undefined : wellFormed(source),
    tags: tags?.map(wellFormed) ?? [],
    message: wellFormed(message),
    context_json: contextJson(record),
    cut: record.cut ?? false,
    continued: record.continued ?? false,
    unfinished: record.unfinished ?? false,
    raw,
    fields_json: record.fields && wellFormed(JSON.stringify(record.fields)),
  };
}

function endMessage(end: Omit<SearchEnd, 'type' | 'cursor'> & { cursor?: string | null }): SearchEndMessage {
  return {
    reason: end.reason,
    records: end.records,
    scanned_bytes: end.scannedBytes,
    skipped_bytes: end.skippedBytes,
    scanned_files: end.scannedFiles,
    covered_from_ms: end.coveredFromMs,
    covered_to_ms: end.coveredToMs,
    problems: end.problems,
    duplicates: end.duplicates?.map(({ file, sameAs }) => ({ file, same_as: sameAs })) ?? [],
    cursor: end.cursor,
    elapsed_ms: end.elapsedMs,
    unread_bytes: end.unreadBytes,
  };
}

export function levelName(level: FoundRecord['level'] | null | 'NONE'): LevelName {
  return level && level !== 'NONE' ? `LEVEL_${level}` : 'LEVEL_UNSPECIFIED';
}

export function countsMessage({ bucketMs, buckets, untimed, end }: Histogram): CountLogsResponseMessage {
  return { bucket_ms: bucketMs, buckets: buckets.map(bucketMessage), untimed, end: endMessage(end) };
}

export function digestMessage({ groups, totalGroups, ungrouped, baseline, end }: Digest): DigestLogsResponseMessage {
  return {
    groups: groups.map(groupMessage),
    total_groups: totalGroups,
    ungrouped,
    baseline: baseline && baselineMessage(baseline),
    end: endMessage(end),
  };
}

function baselineMessage({ fromMs, isComplete, detail }: DigestBaseline): DigestBaselineMessage {
  return { from_ms: fromMs, is_complete: isComplete, detail: detail === undefined ? null : wellFormed(detail) };
}

export function fieldsMessage({ fields, totalFields, records, isSample, end }: Fields): ListFieldsResponseMessage {
  return {
    fields: fields.map(fieldMessage),
    total_fields: totalFields,
    records,
    is_sample: isSample,
    end: endMessage(end),
  };
}

function fieldMessage(field: FieldSummary): FieldSummaryMessage {
  return {
    name: wellFormed(field.name),
    types: field.types,
    records: field.records,
    distinct: field.distinct,
    is_distinct_exact: field.isDistinctExact,
    examples: field.examples.map(wellFormed),
    nodes: [],
  };
}

export function topMessage(top: Top): CountValuesResponseMessage {
  return {
    by: wellFormed(top.by),
    values: top.values.map(valueMessage),
    others: top.others,
    missing: top.missing,
    distinct: top.distinct,
    is_exact: top.isExact,
    bucket_ms: top.bucketMs,
    end: endMessage(top.end),
  };
}

function valueMessage({ value, count, error, buckets = [] }: TopValue): ValueCountMessage {
  return {
    value: wellFormed(value),
    count,
    error,
    buckets: buckets.map(({ startMs, count: records }) => ({ start_ms: startMs, count: records })),
    nodes: [],
  };
}

function bucketMessage({ startMs, counts }: HistogramBucket): CountBucketMessage {
  const levels = Object.keys(counts) as (keyof typeof counts)[];
  return {
    start_ms: startMs,
    counts: levels.map((level) => ({ level: levelName(level), count: counts[level] ?? 0 })),
    nodes: [],
  };
}

function groupMessage({
  level,
  source,
  shape,
  count,
  firstMs,
  lastMs,
  isNew,
  isNewUnknown,
  sample,
}: DigestGroup): DigestGroupMessage {
  return {
    level: levelName(level),
    source: source === null ? null : wellFormed(source),
    shape: shape === null ? null : wellFormed(shape),
    count,
    first_ms: firstMs,
    last_ms: lastMs,
    is_new: isNew,
    is_new_unknown: isNewUnknown === true,
    sample: recordMessage(sample),
    nodes: [],
  };
}

/** Lone surrogates, which JSON in a log line can contain (`"\ud83d"`). */
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Text that can be encoded as UTF-8: strict clients reject a whole message for one invalid string. */
export function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATES, '\ufffd');
}

/* Responses about the cluster: those of a node, with the member of each record, the counts of each, and their reports. */

export function clusterItemMessages(item: ClusterItem): SearchItemMessage[] {
  if (item.type === 'end') return [{ end: clusterEndMessage(item) }];
  const { before = [], after = [] } = item;
  const { node } = item;
  return [
    { record: clusterRecordMessage(item) },
    ...before.map((record) => ({ before: { ...recordMessage(record), node } })),
    ...after.map((record) => ({ after: { ...recordMessage(record), node } })),
  ];
}

export function clusterCountsMessage({
  bucketMs,
  buckets,
  untimed,
  ...part
}: ClusterHistogram): CountLogsResponseMessage {
  return {
    bucket_ms: bucketMs,
    buckets: buckets.map((bucket) => ({ ...bucketMessage(bucket), nodes: nodeCounts(bucket.nodes) })),
    untimed,
    cluster: partMessage(part),
  };
}

export function clusterDigestMessage({
  groups,
  totalGroups,
  ungrouped,
  baseline,
  ...part
}: ClusterDigest): DigestLogsResponseMessage {
  return {
    groups: groups.map((group) => ({
      ...groupMessage(group),
      sample: clusterRecordMessage(group.sample),
      nodes: nodeCounts(group.nodes),
    })),
    total_groups: totalGroups,
    ungrouped,
    baseline: baseline && baselineMessage(baseline),
    cluster: partMessage(part),
  };
}

export function clusterFieldsMessage({
  fields,
  totalFields,
  records,
  isSample,
  ...part
}: ClusterFields): ListFieldsResponseMessage {
  return {
    fields: fields.map((field) => ({ ...fieldMessage(field), nodes: nodeCounts(field.nodes) })),
    total_fields: totalFields,
    records,
    is_sample: isSample,
    cluster: partMessage(part),
  };
}

export function clusterTopMessage(top: ClusterTop): CountValuesResponseMessage {
  return {
    by: wellFormed(top.by),
    values: top.values.map((value) => ({ ...valueMessage(value), nodes: nodeCounts(value.nodes) })),
    others: top.others,
    missing: top.missing,
    distinct: top.distinct,
    is_exact: top.isExact,
    bucket_ms: top.bucketMs,
    cluster: partMessage(top),
  };
}

function clusterRecordMessage(record: ClusterRecord): RecordMessage {
  const { node, atMs, isUnsure } = record;
  // Corrected times may have fractions.
  return { ...recordMessage(record), node, at_ms: atMs && Math.floor(atMs), is_unsure: isUnsure };
}

function clusterEndMessage({ problems = [], duplicates = [], ...end }: ClusterEnd) {
  const { membership } = end;
  return {
    ...endMessage({
      ...end,
      coveredFromMs: end.coveredFromMs ?? null,
      coveredToMs: end.coveredToMs ?? null,
      scannedFiles: 0,
      problems: [],
    }),
    problems,
    duplicates: duplicates.map(({ file, sameAs, node }) => ({ file, same_as: sameAs, node })),
    cluster: {
      ...partMessage(end),
      membership: {
        kind: membership.kind,
        state: membership.state,
        detail: membership.detail,
        as_of_ms: Math.floor(membership.asOfMs),
      },
    },
  };
}

/** What the responses about the cluster have in common. */
type Part = Pick<ClusterHistogram, 'members' | 'archive' | 'coverage'> & Partial<Pick<ClusterHistogram, 'counted'>>;

function partMessage({ members, archive, counted, coverage }: Part): ClusterPartMessage {
  return {
    members: members.map(reportMessage),
    archive: archive && { records: archive.records, before_ms: archive.beforeMs, problem: archive.problem },
    counted_from_ms: floored(counted?.fromMs),
    counted_to_ms: floored(counted?.toMs),
    coverage: coverage && coverageMessage(coverage),
  };
}

function coverageMessage({ askedFromMs, askedToMs, missing, isComplete }: Coverage): CoverageMessage {
  return {
    asked_from_ms: floored(askedFromMs),
    asked_to_ms: floored(askedToMs),
    missing: missing.map(({ node, reason, detail, asOfMs, isExpected }) => ({
      node,
      reason,
      detail: detail === null ? null : wellFormed(detail),
      as_of_ms: floored(asOfMs),
      is_expected: isExpected,
    })),
    is_complete: isComplete,
  };
}

function reportMessage(report: MemberReport): MemberReportMessage {
  const { id, outcome, detail, elapsedMs, count, asOfMs, isPartial = false, state, archive } = report;
  return {
    id,
    outcome,
    detail: detail === null ? null : wellFormed(detail),
    elapsed_ms: Math.round(elapsedMs),
    count,
    as_of_ms: floored(asOfMs),
    is_partial: isPartial,
    state: state ?? '',
    covered_from_ms: floored(report.coveredFromMs),
    covered_to_ms: floored(report.coveredToMs),
    archive: archive && {
      count: archive.count,
      before_ms: floored(archive.beforeMs),
      shipped_from_ms: floored(archive.shippedFromMs),
      shipped_to_ms: floored(archive.shippedToMs),
      lost_bytes: archive.lostBytes,
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
  return {
    node: nodeMessage(description.node),
    observes: description.observes,
    clock_ms: description.clockMs,
    time_zone: description.timeZone,
    utc_offset_minutes: description.utcOffsetMinutes,
    uptime_ms: description.uptimeMs,
    versions: description.versions,
    capabilities: description.capabilities,
    problems: description.problems ?? [],
    role: description.role ?? '',
    labels: Object.entries(description.labels ?? {}).map(([name, value]) => ({ name, value })),
    archive: description.archive && shippingMessage(description.archive),
  };
}

function shippingMessage({ lagMs, lagBytes, shippedRecords, lostBytes, problem }: ShippingState) {
  return {
    lag_ms: lagMs,
    lag_bytes: lagBytes,
    shipped_records: shippedRecords,
    lost_bytes: lostBytes,
    problem,
  };
}

export function configMessage({ config, node }: NodeConfig): GetConfigResponseMessage {
  return { config, node: nodeMessage(node) };
}

export function settingsMessage({ observes, file, settings, disk }: NodeSettings): GetSettingsResponseMessage {
  return {
    observes,
    file,
    settings: settings.map(({ key, value, default: usual, changed, source, secret }) => ({
      key,
      value_json: JSON.stringify(value),
      default_json: usual === null ? null : JSON.stringify(usual),
      changed,
      source,
      secret,
    })),
    disk: diskMessage(disk),
  };
}

function diskMessage({ changes = [], textAtStart, ...disk }: NodeSettings['disk']) {
  return {
    ...disk,
    changes: changes.map(({ key, atStart, onDisk }) => ({
      key,
      at_start_json: atStart === null ? null : JSON.stringify(atStart),
      on_disk_json: onDisk === null ? null : JSON.stringify(onDisk),
    })),
    ...(textAtStart !== undefined && { text_at_start: textAtStart }),
  };
}

function nodeMessage({ hostIp, hostName, grpcPort, httpPort, version, onlineTime }: NodeObject): NodeMessage {
  return {
    host_ip: hostIp,
    host_name: hostName,
    grpc_port: grpcPort,
    http_port: httpPort,
    version,
    online_time_ms: onlineTime,
  };
}

export function fileMessage(file: LogFileDetails): LogFileMessage {
  const { name, size, modifiedMs, family, state, compressed, format, firstTimeMs, lastTimeMs, problem } = file;
  return {
    name,
    size,
    modified_ms: modifiedMs,
    family,
    state,
    compressed,
    format,
    first_time_ms: firstTimeMs,
    last_time_ms: lastTimeMs,
    problem,
  };
}

export function statMessage({ name, sizeBytes, modifiedMs, etag }: OpenLog): StatLogResponseMessage {
  return { name, size_bytes: sizeBytes, modified_ms: modifiedMs, etag };
}
