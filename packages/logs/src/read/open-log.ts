import type { LogHandle } from '../file/handle-cache.ts';
import { type RangeSource, readRange } from '../file/read-range.ts';
import type { TextSource } from '../file/text-source.ts';
import type { OpenLog, ReadOptions, SearchItem, SearchQuery } from '../types.ts';

/**
 * The public view of an open file, or its text. Closing it first ends its readers: none may continue with a closed
 * descriptor.
 */
export function openLog({ handle, reads }: RangeSource, text?: TextSource): OpenLog {
  const sizeBytes = text?.sizeBytes ?? handle.sizeBytes;
  const read = text?.read ?? ((start, end, options) => readRange({ handle, reads }, start, end, options));
  const readings = new Set<AsyncGenerator<Buffer, void, undefined>>();
  let closed = false;
  return {
    name: handle.name,
    sizeBytes,
    modifiedMs: Number(handle.modifiedNs / 1_000_000n),
    etag: fileEtag(handle, `${text ? 'text' : ''}${reads.scrubber?.id ?? ''}`),
    read(start: number, end: number, options?: ReadOptions) {
      if (closed) throw new TypeError(`${JSON.stringify(handle.name)} is closed`);
      const reading = read(Math.max(0, start), Math.min(end, sizeBytes), options);
      readings.add(reading);
      return reading;
    },
    async close() {
      closed = true;
      await Promise.all(Array.from(readings, (reading) => reading.return()));
      handle.release();
    },
  };
}

/**
 * With different secrets masked the response is different, and so is the uncompressed text. Clients read the
 * modification time from the third part, so everything else is in the fourth.
 */
function fileEtag({ ino, sizeBytes, modifiedNs, changedNs }: LogHandle, variant: string): string {
  const parts = [ino, sizeBytes, modifiedNs, changedNs].map((part) => part.toString(36));
  return `"${parts.join('-')}${variant}"`;
}

/** Records at the end of a file examined for a timestamp. */
const LAST_RECORDS = 100;

/** The time of the newest record of a file that has one. */
export async function readLastTime(
  search: (query: SearchQuery) => AsyncIterable<SearchItem[]>,
  file: string,
): Promise<number | null> {
  for await (const items of search({ file, order: 'newest', limit: LAST_RECORDS, before: 0, after: 0 })) {
    for (const item of items) if (item.type === 'record' && item.timeMs !== undefined) return item.timeMs;
  }
  return null;
}
