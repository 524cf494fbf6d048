import type { FoundRecord, SearchItem } from '@porthole/logs';

export function record(number: number, fields: Partial<FoundRecord> = {}): FoundRecord {
  const message = `message ${number}`;
  return { type: 'record', file: 'a.log', offset: number * 100, bytes: 100, cursor: `c${number}`, message, ...fields };
}

export const END: SearchItem = {
  type: 'end',
  reason: 'exhausted',
  records: 0,
  scannedBytes: 0,
  skippedBytes: 0,
  unreadBytes: 0,
  scannedFiles: 1,
  coveredFromMs: null,
  coveredToMs: null,
  problems: [],
  cursor: null,
  elapsedMs: 1,
};
