import type { CallOptions, NodeState } from '@porthole/contract';
import { decodeRecord, findColumns, groupFamilies } from '@porthole/logs';
import type { FoundRecord } from '@porthole/logs/types';

/** Logs a node writes at the same time; LinDB has three. */
const MAX_FILES = 8;

/** As JSON a record is about so much larger than its line. */
const JSON_GROWTH = 2;

interface TailRecord {
  record: FoundRecord;
  /** By the node's wall clock; all its logs have the same zone, whichever that is. */
  localMs: number;
}

/**
 * The newest records of a node that only shows its files, from the ends of those being written; newest first. They have
 * no cursor (it is empty), since it cannot be searched, and no time, since its zone is not known.
 */
export async function hearTails(
  state: NodeState,
  { maxRecordBytes, ...options }: CallOptions & { maxRecordBytes: number },
): Promise<FoundRecord[]> {
  const sizes = new Map((await state.listLogs(options)).map(({ name, size }) => [name, size]));
  const live = groupFamilies([...sizes.keys()])
    .flatMap(({ files }) => files)
    .filter((file) => file.state === 'live' && !file.compressed && sizes.get(file.name) !== 0)
    .slice(0, MAX_FILES);
  const sizeBytes = Math.floor(maxRecordBytes / Math.max(1, live.length) / JSON_GROWTH);
  if (sizeBytes < 1) return [];
  const found: TailRecord[] = [];
  for (const { name } of live)
    found.push(...cutRecords(name, await readTail(state, { file: name, sizeBytes, ...options })));
  return found.sort((a, b) => b.localMs - a.localMs).map(({ record }) => record);
}

/** Never more than was asked for, whatever the node sends. */
async function readTail(
  state: NodeState,
  { file, sizeBytes, ...options }: CallOptions & { file: string; sizeBytes: number },
): Promise<Buffer> {
  const answer = await state.viewLog({ file, sizeBytes }, options);
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer.chunks) {
      chunks.push(Buffer.from(chunk));
      bytes += chunk.length;
      if (bytes >= sizeBytes) break;
    }
    return Buffer.concat(chunks).subarray(0, sizeBytes);
  } finally {
    await answer.close();
  }
}

/** Newest first. What comes before the first line with a time belongs to a record that is not there. */
function cutRecords(file: string, bytes: Buffer): TailRecord[] {
  const starts: { at: number; localMs: number }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const newline = bytes.indexOf(10, at);
    const next = newline < 0 ? bytes.length : newline + 1;
    const { localMs } = findColumns(bytes, at, next);
    if (localMs !== undefined) starts.push({ at, localMs });
    at = next;
  }
  const records = starts.map(({ at, localMs }, place): TailRecord => {
    const end = starts[place + 1]?.at ?? bytes.length;
    const { localMs: _localMs, ...fields } = decodeRecord(bytes, at, end);
    return { record: { type: 'record', file, offset: at, bytes: end - at, cursor: '', ...fields }, localMs };
  });
  return records.reverse();
}
