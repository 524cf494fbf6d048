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
  if (message === null || message === undefined) throw new Error('a part of the response is missing');
  return message;
}

export function readDescription(message: DescribeResponseMessage): NodeDescription {
  return {
    node: readNode(present(message.node)),
    observes: message.observes as NodeDescription['observes'],
    clockMs: message.clockMs,
    timeZone: message.timeZone,
    utcOffsetMinutes: message.utcOffsetMinutes,
    uptimeMs: message.uptimeMs,
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
    hostIp: node.hostIp,
    hostName: node.hostName,
    grpcPort: node.grpcPort,
    httpPort: node.httpPort,
    version: node.version,
    onlineTime: node.onlineTimeMs,
  };
}

export function readSettings({ nodes }: GetSettingsResponseMessage): NodeSettings {
  const { observes, file, settings, disk } = present(nodes[0]);
  const { state, differs, detail, changes, textAtStart } = present(disk);
  const read = (json: string | null | undefined) => (typeof json === 'string' ? JSON.parse(json) : null);
  return {
    observes: observes as NodeSettings['observes'],
    file: file ?? null,
    settings: settings.map(({ key, valueJson, defaultJson, changed, source, secret }) => ({
      key,
      value: JSON.parse(valueJson),
      default: typeof defaultJson === 'string' ? JSON.parse(defaultJson) : null,
      changed: changed ?? null,
      source: source as NodeSettings['settings'][number]['source'],
      secret,
    })),
    disk: {
      state: state as NodeSettings['disk']['state'],
      differs,
      detail: detail ?? null,
      ...(changes.length > 0 && {
        changes: changes.map(({ key, atStartJson, onDiskJson }) => ({
          key,
          atStart: read(atStartJson),
          onDisk: read(onDiskJson),
        })),
      }),
      ...(typeof textAtStart === 'string' && { textAtStart }),
    },
  };
}

export function readFileDetails(file: LogFileMessage): LogFileDetails {
  return {
    name: file.name,
    size: file.size,
    modifiedMs: present(file.modifiedMs),
    family: file.family,
    state: file.state as LogFileDetails['state'],
    compressed: file.compressed,
    format: file.format as LogFileDetails['format'],
    firstTimeMs: file.firstTimeMs ?? null,
    lastTimeMs: file.lastTimeMs ?? null,
    problem: file.problem ?? null,
  };
}

export function readRecord(message: RecordMessage): FoundRecord {
  const { timeMs, level, source, tags, contextJson, cut, continued, unfinished, raw, fieldsJson } = message;
  return {
    type: 'record',
    file: message.file,
    offset: message.offset,
    bytes: message.bytes,
    cursor: message.cursor,
    ...(typeof timeMs === 'number' && { timeMs }),
    ...(level !== 'LEVEL_UNSPECIFIED' && { level: level.replace('LEVEL_', '') as Level }),
    ...(typeof source === 'string' && { source }),
    ...(tags.length > 0 && { tags }),
    message: message.message,
    ...(typeof contextJson === 'string' && readContext(contextJson)),
    ...(cut && { cut }),
    ...(continued && { continued }),
    ...(unfinished && { unfinished }),
    ...(typeof raw === 'string' && { raw }),
    ...(typeof fieldsJson === 'string' && { fields: JSON.parse(fieldsJson) as NonNullable<FoundRecord['fields']> }),
  };
}

export function readEnd(end: SearchEndMessage): Omit<SearchEnd, 'type' | 'cursor'> {
  return {
    reason: end.reason as SearchEnd['reason'],
    records: end.records,
    scannedBytes: end.scannedBytes,
    skippedBytes: end.skippedBytes,
    scannedFiles: end.scannedFiles,
    coveredFromMs: end.coveredFromMs ?? null,
    coveredToMs: end.coveredToMs ?? null,
    problems: end.problems.map(({ node: _node, ...problem }) => problem),
    elapsedMs: end.elapsedMs,
    ...(typeof end.unreadBytes === 'number' && { unreadBytes: end.unreadBytes }),
  };
}

export function readFollowItem({
  record,
  rotated,
  truncated,
  gap,
  missing,
  skipped,
  behind,
  end,
}: FollowItemMessage): FollowItem {
  if (record) return readRecord(record);
  if (rotated) return { type: 'rotated', ...rotated };
  if (truncated) return { type: 'truncated', file: truncated.file, lostBytes: truncated.lostBytes ?? null };
  if (gap) {
    const { family, reason, bytes = null, after = null, until = null } = gap;
    return { type: 'gap', family, reason: reason as 'slow', bytes, after, until };
  }
  if (missing) return { type: 'missing', ...missing };
  if (skipped) return { type: 'skipped', ...skipped };
  if (behind) return { type: 'behind', ...behind };
  return { type: 'end', reason: present(end).reason as 'cancelled' };
}

export function readCounts({ bucketMs, buckets, untimed, end }: CountLogsResponseMessage): Histogram {
  return {
    bucketMs,
    buckets: buckets.map(({ startMs, counts }) => ({
      startMs,
      counts: Object.fromEntries(
        counts.map(({ level, count }) => [level === 'LEVEL_UNSPECIFIED' ? 'NONE' : level.replace('LEVEL_', ''), count]),
      ),
    })),
    untimed,
    end: readEnd(present(end)),
  };
}

export function readDigest({ groups, totalGroups, ungrouped, baseline, end }: DigestLogsResponseMessage): Digest {
  return {
    groups: groups.map((group) => ({
      level: group.level === 'LEVEL_UNSPECIFIED' ? null : (group.level.replace('LEVEL_', '') as Level),
      source: group.source ?? null,
      shape: group.shape ?? null,
      count: group.count,
      firstMs: group.firstMs ?? null,
      lastMs: group.lastMs ?? null,
      isNew: group.isNew,
      ...(group.isNewUnknown && { isNewUnknown: true as const }),
      sample: readRecord(present(group.sample)),
    })),
    totalGroups,
    ungrouped,
    ...(baseline && {
      baseline: {
        fromMs: baseline.fromMs ?? null,
        isComplete: baseline.isComplete,
        ...(typeof baseline.detail === 'string' && { detail: baseline.detail }),
      },
    }),
    end: readEnd(present(end)),
  };
}

export function readFields({ fields, totalFields, records, isSample, end }: ListFieldsResponseMessage): Fields {
  return {
    fields: fields.map(({ name, types, records, distinct, isDistinctExact, examples }) => ({
      name,
      types: types as FieldType[],
      records,
      distinct,
      isDistinctExact,
      examples,
    })),
    totalFields,
    records,
    isSample,
    end: readEnd(present(end)),
  };
}

export function readTop(top: CountValuesResponseMessage): Top {
  const { by, others, missing, distinct, isExact, bucketMs } = top;
  const isOverTime = typeof bucketMs === 'number';
  return {
    by,
    values: top.values.map(({ value, count, error, buckets }) => ({
      value,
      count,
      ...(typeof error === 'number' && { error }),
      ...(isOverTime && {
        buckets: buckets.map(({ startMs, count: records }) => ({ startMs, count: records })),
      }),
    })),
    others,
    missing,
    distinct,
    isExact,
    ...(isOverTime && { bucketMs }),
    end: readEnd(present(top.end)),
  };
}
