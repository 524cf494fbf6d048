import type { NodeConfig, NodeDescription, NodeObject, NodeSettings } from '@porthole/contract';
import { readContext } from '@porthole/logs';
import type {
  Digest,
  Fields,
  FieldType,
  FollowItem,
  FoundRecord,
  Histogram,
  Level,
  LogFileDetails,
  SearchEnd,
  Top,
} from '@porthole/logs/types';
import type {
  CountLogsResponseMessage,
  CountValuesResponseMessage,
  DescribeResponseMessage,
  DigestLogsResponseMessage,
  FollowItemMessage,
  GetConfigResponseMessage,
  GetSettingsResponseMessage,
  ListFieldsResponseMessage,
  LogFileMessage,
  NodeMessage,
  RecordMessage,
  SearchEndMessage,
} from '../generated/messages.ts';

/* Decodes messages: absent fields stay absent, or become `null` where the type has `null`. */

/** A message that the node always sends. */
export function present<Message>(message: Message | null | undefined): Message {
  if (message === null || message === undefined) throw new Error('a part of the answer is missing');
  return message;
}

export function readDescription(message: DescribeResponseMessage): NodeDescription {
  return {
    node: readNode(present(message.node)),
    observes: message.observes as NodeDescription['observes'],
    clockMs: message.clock_ms,
    timeZone: message.time_zone,
    utcOffsetMinutes: message.utc_offset_minutes,
    uptimeMs: message.uptime_ms,
    versions: present(message.versions),
    capabilities: message.capabilities,
    labels: Object.fromEntries(message.labels.map(({ name, value }) => [name, value])),
    problems: message.problems.map(({ check, detail }) => ({ check, detail })),
    role: message.role,
  };
}

export function readConfig({ config, node }: GetConfigResponseMessage): NodeConfig {
  return { config, node: readNode(present(node)) };
}

function readNode(node: NodeMessage): NodeObject {
  return {
    hostIp: node.host_ip,
    hostName: node.host_name,
    grpcPort: node.grpc_port,
    httpPort: node.http_port,
    version: node.version,
    onlineTime: node.online_time_ms,
  };
}

export function readSettings({ observes, file, settings, disk }: GetSettingsResponseMessage): NodeSettings {
  const { state, differs, detail, changes, text_at_start } = present(disk);
  const read = (json: string | null | undefined) => (typeof json === 'string' ? JSON.parse(json) : null);
  return {
    observes: observes as NodeSettings['observes'],
    file: file ?? null,
    settings: settings.map(({ key, value_json, default_json, changed, source, secret }) => ({
      key,
      value: JSON.parse(value_json),
      default: typeof default_json === 'string' ? JSON.parse(default_json) : null,
      changed: changed ?? null,
      source: source as NodeSettings['settings'][number]['source'],
      secret,
    })),
    disk: {
      state: state as NodeSettings['disk']['state'],
      differs,
      detail: detail ?? null,
      ...(changes.length > 0 && {
        changes: changes.map(({ key, at_start_json, on_disk_json }) => ({
          key,
          atStart: read(at_start_json),
          onDisk: read(on_disk_json),
        })),
      }),
      ...(typeof text_at_start === 'string' && { textAtStart: text_at_start }),
    },
  };
}

export function readFileDetails(file: LogFileMessage): LogFileDetails {
  return {
    name: file.name,
    size: file.size,
    modifiedMs: file.modified_ms,
    family: file.family,
    state: file.state as LogFileDetails['state'],
    compressed: file.compressed,
    format: file.format as LogFileDetails['format'],
    firstTimeMs: file.first_time_ms ?? null,
    lastTimeMs: file.last_time_ms ?? null,
    problem: file.problem ?? null,
  };
}

export function readRecord(message: RecordMessage): FoundRecord {
  const { time_ms, level, source, tags, context_json, cut, continued, unfinished, raw, fields_json } = message;
  return {
    type: 'record',
    file: message.file,
    offset: message.offset,
    bytes: message.bytes,
    cursor: message.cursor,
    ...(typeof time_ms === 'number' && { timeMs: time_ms }),
    ...(level !== 'LEVEL_UNSPECIFIED' && { level: level.replace('LEVEL_', '') as Level }),
    ...(typeof source === 'string' && { source }),
    ...(tags.length > 0 && { tags }),
    message: message.message,
    ...(typeof context_json === 'string' && readContext(context_json)),
    ...(cut && { cut }),
    ...(continued && { continued }),
    ...(unfinished && { unfinished }),
    ...(typeof raw === 'string' && { raw }),
    ...(typeof fields_json === 'string' && { fields: JSON.parse(fields_json) as NonNullable<FoundRecord['fields']> }),
  };
}

export function readEnd(end: SearchEndMessage): Omit<SearchEnd, 'type' | 'cursor'> {
  return {
    reason: end.reason as SearchEnd['reason'],
    records: end.records,
    scannedBytes: end.scanned_bytes,
    skippedBytes: end.skipped_bytes,
    scannedFiles: end.scanned_files,
    coveredFromMs: end.covered_from_ms ?? null,
    coveredToMs: end.covered_to_ms ?? null,
    problems: end.problems,
    elapsedMs: end.elapsed_ms,
    ...(typeof end.unread_bytes === 'number' && { unreadBytes: end.unread_bytes }),
  };
}

export function readFollowItem({
  record,
  rotated,
  truncated,
  gap,
  missing,
  skipped,
  end,
}: FollowItemMessage): FollowItem {
  if (record) return readRecord(record);
  if (rotated) return { type: 'rotated', ...rotated };
  if (truncated) return { type: 'truncated', file: truncated.file, lostBytes: truncated.lost_bytes ?? null };
  if (gap) {
    const { family, reason, bytes = null, after = null, until = null } = gap;
    return { type: 'gap', family, reason: reason as 'slow', bytes, after, until };
  }
  if (missing) return { type: 'missing', ...missing };
  if (skipped) return { type: 'skipped', ...skipped };
  return { type: 'end', reason: present(end).reason as 'cancelled' };
}

export function readCounts({ bucket_ms, buckets, untimed, end }: CountLogsResponseMessage): Histogram {
  return {
    bucketMs: bucket_ms,
    buckets: buckets.map(({ start_ms, counts }) => ({
      startMs: start_ms,
      counts: Object.fromEntries(
        counts.map(({ level, count }) => [level === 'LEVEL_UNSPECIFIED' ? 'NONE' : level.replace('LEVEL_', ''), count]),
      ),
    })),
    untimed,
    end: readEnd(present(end)),
  };
}

export function readDigest({ groups, total_groups, ungrouped, baseline, end }: DigestLogsResponseMessage): Digest {
  return {
    groups: groups.map((group) => ({
      level: group.level === 'LEVEL_UNSPECIFIED' ? null : (group.level.replace('LEVEL_', '') as Level),
      source: group.source ?? null,
      shape: group.shape ?? null,
      count: group.count,
      firstMs: group.first_ms ?? null,
      lastMs: group.last_ms ?? null,
      isNew: group.is_new,
      ...(group.is_new_unknown && { isNewUnknown: true as const }),
      sample: readRecord(present(group.sample)),
    })),
    totalGroups: total_groups,
    ungrouped,
    ...(baseline && {
      baseline: {
        fromMs: baseline.from_ms ?? null,
        isComplete: baseline.is_complete,
        ...(typeof baseline.detail === 'string' && { detail: baseline.detail }),
      },
    }),
    end: readEnd(present(end)),
  };
}

export function readFields({ fields, total_fields, records, is_sample, end }: ListFieldsResponseMessage): Fields {
  return {
    fields: fields.map(({ name, types, records, distinct, is_distinct_exact, examples }) => ({
      name,
      types: types as FieldType[],
      records,
      distinct,
      isDistinctExact: is_distinct_exact,
      examples,
    })),
    totalFields: total_fields,
    records,
    isSample: is_sample,
    end: readEnd(present(end)),
  };
}

export function readTop(top: CountValuesResponseMessage): Top {
  const { by, others, missing, distinct, is_exact, bucket_ms } = top;
  const isOverTime = typeof bucket_ms === 'number';
  return {
    by,
    values: top.values.map(({ value, count, error, buckets }) => ({
      value,
      count,
      ...(typeof error === 'number' && { error }),
      ...(isOverTime && {
        buckets: buckets.map(({ start_ms, count: records }) => ({ startMs: start_ms, count: records })),
      }),
    })),
    others,
    missing,
    distinct,
    isExact: is_exact,
    ...(isOverTime && { bucketMs: bucket_ms }),
    end: readEnd(present(top.end)),
  };
}
