import type { Digest, DigestGroup, Histogram, HistogramBucket } from '@porthole/logs/types';
import type {
  CountBucketMessage,
  CountLogsResponseMessage,
  DigestGroupMessage,
  DigestLogsResponseMessage,
} from '../generated/messages.ts';
import { endMessage, levelName, recordMessage } from './record-messages.ts';
import { wellFormed } from './well-formed.ts';

export function countsMessage({ bucketMs, buckets, untimed, end }: Histogram): CountLogsResponseMessage {
  return { bucket_ms: bucketMs, buckets: buckets.map(bucketMessage), untimed, end: endMessage(end) };
}

export function digestMessage({ groups, totalGroups, ungrouped, end }: Digest): DigestLogsResponseMessage {
  return { groups: groups.map(groupMessage), total_groups: totalGroups, ungrouped, end: endMessage(end) };
}

function bucketMessage({ startMs, counts }: HistogramBucket): CountBucketMessage {
  const levels = Object.keys(counts) as (keyof typeof counts)[];
  return {
    start_ms: startMs,
    counts: levels.map((level) => ({ level: levelName(level), count: counts[level] ?? 0 })),
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
    sample: recordMessage(sample),
  };
}
