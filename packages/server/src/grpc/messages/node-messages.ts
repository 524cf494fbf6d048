import type { NodeConfig, NodeDescription, NodeObject, NodeSettings, ShippingState } from '@porthole/contract';
import type { LogFileDetails, OpenLog } from '@porthole/logs';
import type {
  DescribeResponseMessage,
  GetConfigResponseMessage,
  GetSettingsResponseMessage,
  LogFileMessage,
  NodeMessage,
  StatLogResponseMessage,
} from '../generated/messages.ts';

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
