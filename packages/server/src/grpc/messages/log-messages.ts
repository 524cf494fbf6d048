import type { LogFileDetails, OpenLog } from '@porthole/logs';
import type { LogFileMessage, StatLogResponseMessage } from '../generated/messages.ts';

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
