import type {
  ClusterDigest,
  ClusterEnd,
  ClusterFields,
  ClusterHistogram,
  ClusterItem,
  ClusterRecord,
  ClusterTop,
  Coverage,
  MemberReport,
} from '@porthole/contract';
import type {
  ClusterPartMessage,
  CountLogsResponseMessage,
  CountValuesResponseMessage,
  CoverageMessage,
  DigestLogsResponseMessage,
  ListFieldsResponseMessage,
  MemberReportMessage,
  NodeCountMessage,
  RecordMessage,
  SearchItemMessage,
} from '../generated/messages.ts';
import {
  baselineMessage,
  bucketMessage,
  endMessage,
  fieldMessage,
  groupMessage,
  recordMessage,
  valueMessage,
  wellFormed,
} from './record-messages.ts';

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
