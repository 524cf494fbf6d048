import { type CallOptions, exactJson, type NodeConfig, type NodeState, searchItems } from '@porthole/contract';
import type { FoundRecord, LogFileDetails } from '@porthole/logs/types';
import { MemberNode } from '../../contract-only/member-node.ts';
import { isFile, isRecord } from '../../membership/snapshots/member-snapshot.ts';
import { withDeadline } from '../../requests/bounded-calls.ts';
import { type Masked, maskConfig } from '../../settings/secrets.ts';

/** Maximum number of records. */
const MAX_RECORDS = 1000;

/** Fraction of the timeout used as the scan budget. */
const SCAN_SHARE = 0.6;

/** Fraction of the timeout for each part: a slow one must not affect the other. */
const PART_SHARE = 0.9;

export interface FetchSnapshotOptions extends CallOptions {
  mask(configText: string): Masked;
  timeoutMs: number;
  maxConfigBytes: number;
  maxRecordBytes: number;
  maxFileBytes: number;
}

export interface FetchedSnapshot {
  /** `undefined`: not received, the previous one stays. `null`: must not be stored. */
  config: NodeConfig | null | undefined;
  records: FoundRecord[] | undefined;
  /** `undefined`: not received. */
  files: LogFileDetails[] | undefined;
}

/** Fetches configuration and newest records, each independently. Throws if both fail. */
export async function fetchSnapshot(
  { state }: { state: NodeState },
  options: FetchSnapshotOptions,
): Promise<FetchedSnapshot> {
  const deadline = { timeoutMs: options.timeoutMs * PART_SHARE, ...(options.signal && { signal: options.signal }) };
  const [config, records, files] = await Promise.allSettled([
    withDeadline((signal) => fetchConfig(state, { ...options, signal }), deadline),
    withDeadline((signal) => fetchRecords(state, { ...options, signal }), deadline),
    withDeadline((signal) => fetchFiles(state, { ...options, signal }), deadline),
  ]);
  if (config.status === 'rejected' && records.status === 'rejected') throw config.reason;
  return {
    config: config.status === 'fulfilled' ? config.value : undefined,
    records: records.status === 'fulfilled' ? records.value : undefined,
    files: files.status === 'fulfilled' ? files.value : undefined,
  };
}

/** The most recently written files that fit. */
async function fetchFiles(state: NodeState, { signal, maxFileBytes }: FetchSnapshotOptions): Promise<LogFileDetails[]> {
  const files = await state.logFiles(signal ? { signal } : {});
  const newest = files.filter(isFile).sort((a, b) => b.modifiedMs - a.modifiedMs);
  let bytes = 0;
  const tooMuch = newest.findIndex((file) => {
    bytes += Buffer.byteLength(JSON.stringify(file));
    return bytes > maxFileBytes;
  });
  return newest.slice(0, tooMuch < 0 ? newest.length : tooMuch).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** `undefined`: the scan found nothing in its budget, which says nothing about the records. */
async function fetchRecords(state: NodeState, options: FetchSnapshotOptions): Promise<FoundRecord[] | undefined> {
  const newest = await searchNewest(state, options);
  // A snapshot outlives the knowledge that its times were a guess.
  const isGuessed = state instanceof MemberNode && state.isTimeGuessed;
  const records = isGuessed ? newest?.map(({ timeMs: _timeMs, ...record }) => record) : newest;
  return records && firstThatFit(records, options);
}

async function fetchConfig(
  state: NodeState,
  { mask, maxConfigBytes, signal }: FetchSnapshotOptions,
): Promise<NodeConfig | null> {
  const config = await state.config(signal ? { signal } : {});
  if (Buffer.byteLength(config.config) > maxConfigBytes) return null;
  return maskConfig(config, { mask });
}

/** Stops reading once there is enough. */
async function searchNewest(
  state: NodeState,
  { signal, timeoutMs, maxRecordBytes }: FetchSnapshotOptions,
): Promise<FoundRecord[] | undefined> {
  // With the raw text, so that they can be printed exactly after the member is gone.
  const query = { order: 'newest', limit: MAX_RECORDS, before: 0, after: 0, raw: true } as const;
  const budgetMs = Math.max(1, Math.floor(timeoutMs * SCAN_SHARE));
  const records: FoundRecord[] = [];
  let bytes = 0;
  for await (const batch of searchItems(state, query, { ...(signal && { signal }), budgetMs })) {
    for (const item of batch) {
      // Untrusted: invalid records are skipped.
      const end = item?.type === 'end' ? item : undefined;
      if (end?.reason === 'time budget' && records.length === 0) return undefined;
      if (!isRecord(item)) continue;
      records.push(item);
      bytes += recordBytes(item);
    }
    if (bytes > maxRecordBytes || records.length >= MAX_RECORDS) break;
  }
  return records;
}

/** Up to the first record that does not fit: snapshots have no gaps. */
function firstThatFit(records: readonly FoundRecord[], { maxRecordBytes }: FetchSnapshotOptions): FoundRecord[] {
  let bytes = 0;
  const tooMuch = records.findIndex((record) => {
    bytes += recordBytes(record);
    return bytes > maxRecordBytes;
  });
  return records.slice(0, Math.min(MAX_RECORDS, tooMuch < 0 ? records.length : tooMuch));
}

function recordBytes(record: FoundRecord): number {
  return Buffer.byteLength(exactJson(record));
}
