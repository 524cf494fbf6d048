import { startAt, textOf } from '../scan/found-lines.ts';
import type { SearchEnd, SearchQuery } from '../types.ts';
import type { OpenFamily } from './files/open-family.ts';
import type { TakenRecords } from './lane.ts';
import type { ScanContext } from './scan-context.ts';
import { searchRecords } from './search-records.ts';
import type { SearchOptions } from './stop-reason.ts';

const NEWLINE = 10;

/** Records as text, byte for byte as in their files, except for masked secrets; compressed ones are decompressed. */
export interface RecordsText {
  type: 'text';
  /** Can be concatenated: a record without a newline has one here, unless what follows continues it. Do not change it. */
  text: Uint8Array<ArrayBuffer>;
  /** End of each record in `text`. */
  ends: Uint32Array;
  /** Epoch ms; `NaN` if a record has none. */
  times: Float64Array;
}

/**
 * Emits the text of the matching records of some families, several at a time as they are found; the end is the last
 * item. An item without records comes first, as soon as the query has been validated. Takes ownership of the families
 * and releases them.
 */
export function searchText(
  scanContext: ScanContext,
  families: readonly OpenFamily[],
  query: SearchQuery,
  options: SearchOptions = {},
): AsyncGenerator<RecordsText | SearchEnd, void, undefined> {
  const joined = new JoinedTexts();
  return searchRecords<RecordsText | SearchEnd>(scanContext, families, {
    query,
    options,
    output: {
      asText: true,
      records: (taken) => (taken.length === 0 ? [joinTexts([])] : joined.add(taken)),
      end: (end) => [...joined.rest(), end],
    },
  });
}

/**
 * Makes texts of records such that they can be concatenated: a record without a newline gets one, unless what follows
 * continues it. So the last one is held back if it has none, until that is known.
 */
class JoinedTexts {
  #held: TakenRecords | undefined;

  *add(taken: readonly TakenRecords[]): Generator<RecordsText, void, undefined> {
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

  *rest(): Generator<RecordsText, void, undefined> {
    if (this.#held) yield joinTexts([this.#held]);
  }
}

/** Without copying, if it is in one piece. `next` is what follows. */
function joinTexts(taken: readonly TakenRecords[], next?: TakenRecords): RecordsText {
  const pieces = taken.map((piece, index) => ({ ...piece, gap: gapBehind(piece, taken[index + 1] ?? next) }));
  const [first] = pieces;
  const ends = joinEnds(pieces);
  if (first && pieces.length === 1 && first.gap === 0) {
    return { type: 'text', text: textOf(first.found, first.from, first.to), ends, times: timesOf(first) };
  }
  const text = Buffer.from(new ArrayBuffer(ends.at(-1) ?? 0));
  const times = new Float64Array(ends.length);
  let [at, count] = [0, 0];
  for (const piece of pieces) {
    at += textOf(piece.found, piece.from, piece.to).copy(text, at);
    if (piece.gap > 0) text[at++] = NEWLINE;
    times.set(timesOf(piece), count);
    count += piece.to - piece.from;
  }
  return { type: 'text', text, ends, times };
}

function joinEnds(pieces: readonly (TakenRecords & { gap: number })[]): Uint32Array {
  const [first] = pieces;
  if (first && pieces.length === 1 && first.from === 0 && first.gap === 0)
    return first.found.ends.subarray(0, first.to);
  const ends = new Uint32Array(pieces.reduce((count, { from, to }) => count + to - from, 0));
  let [end, count] = [0, 0];
  for (const { found, from, to, gap } of pieces) {
    const shift = end - startAt(found, from);
    for (let index = from; index < to; index++) ends[count++] = (found.ends[index] ?? 0) + shift;
    ends[count - 1] = (ends[count - 1] ?? 0) + gap;
    end = ends[count - 1] ?? 0;
  }
  return ends;
}

/** The last record in memory of its own: that of the others may be used again before it is emitted. */
function copyLast({ found, opened, to }: TakenRecords): TakenRecords {
  const text = new Uint8Array(textOf(found, to - 1, to));
  const copied = {
    text,
    ends: Uint32Array.of(text.length),
    offsets: found.offsets.slice(to - 1, to),
    times: found.times.slice(to - 1, to),
    ...(found.lengths && { lengths: found.lengths.slice(to - 1, to) }),
  };
  return { found: copied, opened, from: 0, to: 1 };
}

function timesOf({ found, from, to }: TakenRecords): Float64Array {
  return found.times.subarray(from, to);
}

/** Whether the last record has no newline. */
function isOpen({ found, to }: TakenRecords): boolean {
  return found.text[startAt(found, to) - 1] !== NEWLINE;
}

/** 1 if a newline is missing between them. */
function gapBehind(piece: TakenRecords, next: TakenRecords | undefined): 0 | 1 {
  if (!next || !isOpen(piece)) return 0;
  const last = piece.to - 1;
  const end = (piece.found.offsets[last] ?? 0) + (piece.found.lengths?.[last] ?? 0);
  return next.opened === piece.opened && next.found.offsets[next.from] === end ? 0 : 1;
}
