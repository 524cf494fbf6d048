import { fstatSync, writeSync } from 'node:fs';
import { type Batch, resumeBatch } from './batch.ts';
import type { LiveFile } from './live-file.ts';
import { withLogFileSync } from './open-log-file.ts';

/** A running write needs microseconds; if it takes longer than this, a duplicate record is better than a missing one. */
const IN_FLIGHT_WAIT_MS = 500;

/**
 * Writes the rest of the batches synchronously, in order. Waits for the first one if it is being written. If writing fails,
 * it throws, and the batches know how far they were written.
 */
export function flushRestSync(file: LiveFile, batches: readonly (Batch | undefined)[]): void {
  const [current] = batches;
  if (current && hasLanded(file)) current.offset = current.bytes.length;
  const rest = batches.filter((batch) => batch !== undefined && batch.offset < batch.bytes.length);
  if (rest.length === 0) return;
  withLogFileSync(file.path, (fd, stats, isTorn) => {
    let needsLineFeed = isTorn;
    for (const batch of rest) {
      if (batch === undefined) continue;
      if (!resumeBatch(batch, stats) && needsLineFeed) writeSync(fd, '\n');
      needsLineFeed = false;
      writeRestSync(fd, batch);
    }
  });
}

/** The write continues in the thread pool while this thread sleeps; the size of the file shows when it is done. */
function hasLanded(file: LiveFile): boolean {
  const { inFlight } = file;
  if (!inFlight) return false;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; waitedMs < IN_FLIGHT_WAIT_MS; waitedMs += 1) {
    if (fstatSync(inFlight.fd).size >= inFlight.untilBytes) return true;
    Atomics.wait(sleeper, 0, 0, 1);
  }
  return false;
}

function writeRestSync(fd: number, batch: Batch): void {
  try {
    while (batch.offset < batch.bytes.length) batch.offset += writeSync(fd, batch.bytes, batch.offset);
  } catch (thrown) {
    batch.stoppedAt = fstatSync(fd);
    throw thrown;
  }
}
