import type { MemberReport } from '@porthole/contract';
import type { FoundRecord, SearchEnd, SearchItem, SearchQuery } from '@porthole/logs/types';
import { outcomeOf } from '../fan-out/outcome-of.ts';
import { withDeadline } from '../fan-out/with-deadline.ts';
import type { MemberWords } from '../state/member-words.ts';
import { matchesRecord } from './match-record.ts';

/** What is said of a member whose last words stand for it. */
export type InsteadOf = Pick<MemberReport, 'outcome' | 'detail' | 'asOfMs'>;

/** Whose records can only be had from what was kept: a member that answers, if only with a no, speaks for itself. */
const SILENT: ReadonlySet<MemberReport['outcome']> = new Set<MemberReport['outcome']>(['refused', 'timeout']);

export interface SilentOptions {
  words: MemberWords;
  query: SearchQuery;
  /** For its first sign of life. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Called before its words are told. */
  onSilence(instead: InsteadOf): void;
}

/** What a member tells; where it does not answer at all, what it told last. */
export async function* searchOrWords(
  ask: () => AsyncIterable<SearchItem[]>,
  { words, query, timeoutMs, signal, onSilence }: SilentOptions,
): AsyncGenerator<SearchItem[], void, undefined> {
  const batches = ask()[Symbol.asyncIterator]();
  try {
    let next: IteratorResult<SearchItem[]>;
    try {
      next = await withDeadline(() => batches.next(), { timeoutMs, signal });
    } catch (error) {
      const { outcome, detail } = outcomeOf(error);
      if (signal.aborted || !SILENT.has(outcome)) throw error;
      onSilence({ outcome, detail, asOfMs: words.asOfMs });
      yield* searchWords(words, query);
      return;
    }
    for (; !next.done; next = await batches.next()) yield next.value;
  } finally {
    void batches.return?.().catch(() => {}); // it may be stuck, and nobody waits for it
  }
}

/** The last words of a member as the answer to a search. */
export async function* searchWords(
  { records }: MemberWords,
  query: SearchQuery,
): AsyncGenerator<SearchItem[], void, undefined> {
  yield [];
  const { order, limit, start, raw = false } = query;
  const timeMs = start && 'timeMs' in start ? start.timeMs : undefined;
  const isInside = (at: number) => timeMs === undefined || (order === 'newest' ? at < timeMs : at >= timeMs);
  // Without a time it stands nowhere: it is told only where no time is asked for.
  const matching = records.filter((record) => matchesRecord(record, query) && isInside(record.timeMs ?? Number.NaN));
  const told = (order === 'newest' ? matching : matching.toReversed()).slice(0, limit);
  yield [...told.map((record) => (raw ? record : withoutRaw(record))), endOf(told)];
}

/** A snapshot keeps the text of each record; responses have it only where it was requested. */
function withoutRaw({ raw: _raw, ...record }: FoundRecord): FoundRecord {
  return record;
}

function endOf(told: readonly FoundRecord[]): SearchEnd {
  return {
    type: 'end',
    reason: 'exhausted',
    records: told.length,
    scannedBytes: 0,
    skippedBytes: 0,
    scannedFiles: 0,
    coveredFromMs: null,
    coveredToMs: null,
    problems: [],
    cursor: null,
    elapsedMs: 0,
  };
}
