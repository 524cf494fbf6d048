import type { Scrubber } from '../../scrub/scrubber.ts';
import type { RecordRing } from './record-ring.ts';
import type { RecordEntry } from './ring-entry.ts';

/** Masks secrets in records that were read before these were known: whoever comes later gets them masked. */
export function scrubRing(ring: RecordRing, scrubber: Scrubber): void {
  let run: RecordEntry[] = [];
  for (let seq = ring.firstSeq; seq < ring.nextSeq; seq++) {
    const entry = ring.at(seq);
    const record = entry?.kind === 'record' ? entry : undefined;
    // Pieces of one line follow each other: a secret may lie across.
    if (!record?.piece.continued) {
      scrubRun(run, scrubber);
      run = [];
    }
    if (record) run.push(record);
  }
  scrubRun(run, scrubber);
}

function scrubRun(run: readonly RecordEntry[], scrubber: Scrubber): void {
  const bytes = Buffer.concat(run.map(({ piece }) => piece.bytes));
  if (!scrubber.mask(bytes)) return;
  let at = 0;
  for (const entry of run) {
    at += bytes.copy(entry.piece.bytes, 0, at, at + entry.piece.bytes.length);
    entry.clearCache();
  }
}
