import { contextJson } from '@porthole/contract';
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
  CountBucketMessage,
  CountLogsResponseMessage,
  CountValuesResponseMessage,
  DigestBaselineMessage,
  DigestGroupMessage,
  DigestLogsResponseMessage,
  FieldSummaryMessage,
  FollowItemMessage,
  Level as LevelName,
  ListFieldsResponseMessage,
  RecordMessage,
  SearchEndMessage,
  SearchItemMessage,
  ValueCountMessage,
} from '../generated/messages.ts';

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

export function recordMessage(record: FoundRecord): RecordMessage {
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

export function endMessage(end: Omit<SearchEnd, 'type' | 'cursor'> & { cursor?: string | null }): SearchEndMessage {
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

export function baselineMessage({ fromMs, isComplete, detail }: DigestBaseline): DigestBaselineMessage {
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

export function fieldMessage(field: FieldSummary): FieldSummaryMessage {
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

export function valueMessage({ value, count, error, buckets = [] }: TopValue): ValueCountMessage {
  return {
    value: wellFormed(value),
    count,
    error,
    buckets: buckets.map(({ startMs, count: records }) => ({ start_ms: startMs, count: records })),
    nodes: [],
  };
}

export function bucketMessage({ startMs, counts }: HistogramBucket): CountBucketMessage {
  const levels = Object.keys(counts) as (keyof typeof counts)[];
  return {
    start_ms: startMs,
    counts: levels.map((level) => ({ level: levelName(level), count: counts[level] ?? 0 })),
    nodes: [],
  };
}

export function groupMessage({
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
