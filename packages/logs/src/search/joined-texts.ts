import type { RecordBatch } from '@porthole/records';
import { startAt, textOf } from '../scan/block/found-lines.ts';
import { type TakenRecords, takenBatch } from './lane.ts';

const NEWLINE = 10;

/**
 * Makes texts of records such that they can be concatenated: a record without a newline gets one, unless what follows
 * continues it. So the last one is held back if it has none, until that is known.
 */
export class JoinedTexts {
  #held: TakenRecords | undefined;

  *add(taken: readonly TakenRecords[]): Generator<RecordBatch, void, undefined> {
    const all = this.#held ? [this.#held, ...taken] : [...taken];
    const last = all.at(-1);
    this.#held = undefined;
    if (last && isOpen(last)) {
      this.#held = copyLast(last);
      all.pop();
      if (last.to - last.from > 1) all.push({ ...last, to: last.to - 1 });
    }
    if (all.length > 0) yield joinTexts(all, this.#held);
  }

  *rest(): Generator<RecordBatch, void, undefined> {
    if (this.#held) yield joinTexts([this.#held]);
  }
}

/** Without copying, if it is in one piece. `next` is what follows. */
function joinTexts(taken: readonly TakenRecords[], next?: TakenRecords): RecordBatch {
  const pieces = taken.map((piece, index) => ({ ...piece, gap: gapBehind(piece, taken[index + 1] ?? next) }));
  const [first] = pieces;
  if (first && pieces.length === 1 && first.gap === 0) return takenBatch([first]);
  const batch = takenBatch(taken);
  const gaps = pieces.reduce((sum, { gap }) => sum + gap, 0);
  if (gaps === 0) return batch;
  const bytes = Buffer.allocUnsafe(batch.bytes.length + gaps);
  // Those of the batch may be those of the scan.
  const ends = batch.ends.slice();
  let [at, index, added] = [0, 0, 0];
  for (const {
    batch: { found },
    from,
    to,
    gap,
  } of pieces) {
    at += textOf(found, from, to).copy(bytes, at);
    if (gap > 0) bytes[at++] = NEWLINE;
    for (let row = from; row < to; row++, index++) ends[index] = (ends[index] as number) + added;
    added += gap;
    ends[index - 1] = at;
  }
  return { ...batch, bytes, ends };
}

/** The last record in memory of its own: that of the others may be used again before it is emitted. */
function copyLast({ batch: { found, opened }, to }: TakenRecords): TakenRecords {
  const text = new Uint8Array(textOf(found, to - 1, to));
  const copied = {
    text,
    ends: Uint32Array.of(text.length),
    offsets: found.offsets.slice(to - 1, to),
    times: found.times.slice(to - 1, to),
    ...(found.lengths && { lengths: found.lengths.slice(to - 1, to) }),
  };
  return { batch: { found: copied, opened }, from: 0, to: 1 };
}

/** Whether the last record has no newline. */
function isOpen({ batch: { found }, to }: TakenRecords): boolean {
  return found.text[startAt(found, to) - 1] !== NEWLINE;
}

/** 1 if a newline is missing between them. */
function gapBehind(piece: TakenRecords, next: TakenRecords | undefined): 0 | 1 {
  if (!next || !isOpen(piece)) return 0;
  const { found, opened } = piece.batch;
  const last = piece.to - 1;
  const end = (found.offsets[last] ?? 0) + (found.lengths?.[last] ?? 0);
  return next.batch.opened === opened && next.batch.found.offsets[next.from] === end ? 0 : 1;
}
