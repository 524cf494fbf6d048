import type { LogHandle } from '../file/log-handle.ts';
import { type RangeSource, readRange } from '../file/read-range.ts';
import type { OpenLog } from '../types.ts';

/** A held file as callers outside see it. Closing ends its readings first: none may go on with a closed descriptor. */
export function openLog({ handle, reads }: RangeSource): OpenLog {
  const readings = new Set<AsyncGenerator<Buffer, void, undefined>>();
  let closed = false;
  return {
    name: handle.name,
    sizeBytes: handle.sizeBytes,
    modifiedMs: Number(handle.modifiedNs / 1_000_000n),
    etag: etagOf(handle, reads.scrubber?.id),
    read(start, end, options) {
      if (closed) throw new TypeError(`${JSON.stringify(handle.name)} is closed`);
      const reading = readRange({ handle, reads }, Math.max(0, start), Math.min(end, handle.sizeBytes), options);
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

/** With other secrets masked it is another answer. */
function etagOf({ ino, sizeBytes, modifiedNs, changedNs }: LogHandle, scrubId: string | undefined): string {
  const parts = [ino, sizeBytes, modifiedNs, changedNs].map((part) => part.toString(36));
  return `"${[...parts, ...(scrubId === undefined ? [] : [scrubId])].join('-')}"`;
}
