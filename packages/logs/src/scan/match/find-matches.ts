import type { LineHead } from '../../parse/format.ts';
import { Candidates } from '../../regex/prefilter.ts';
import type { BlockScanner } from '../block/block-scanner.ts';
import { ERROR_RANK, type RecordTable } from '../block/blocks.ts';
import type { RecordMatcher } from './record-matcher.ts';
import { requiredNeedles } from './required-needles.ts';
import type { PartScan, ScanTools } from './scan-part.ts';

/**
 * Records of a block that may match, as positions in the loaded text, in file order: their heads match, their text has
 * not been tested yet.
 */
export interface Spans {
  starts: number[];
  ends: number[];
  /** Times of their heads; `NaN` if there is none. */
  times: number[];
  /** Ranks of their levels; 0 if there is none. */
  ranks: number[];
  /** Whether the first record of the block is among them and is a part of a longer one. */
  firstContinues: boolean;
}

/**
 * Finds the records that may match without parsing all others; `undefined` if that is not possible. With `textsOnly`,
 * only by text search at memory speed.
 */
export function createCandidates(
  matcher: RecordMatcher,
  { kernel, format, textsOnly = false }: Pick<ScanTools, 'kernel' | 'format'> & { textsOnly?: boolean },
): Candidates | undefined {
  const { prefilter } = matcher;
  const needleSets = matcher.needles.get(format.name) ?? requiredNeedles(matcher, format.name);
  matcher.needles.set(format.name, needleSets);
  const canWalk = !textsOnly && prefilter?.automaton !== undefined;
  return needleSets.length > 0 || canWalk ? new Candidates(kernel, needleSets, prefilter) : undefined;
}

function noSpans(): Spans {
  return { starts: [], ends: [], times: [], ranks: [], firstContinues: false };
}

/** All records of the block whose heads match. */
export function tableSpans(table: RecordTable, matcher: RecordMatcher): Spans {
  const spans = noSpans();
  const { count, starts, times, ranks, end } = table;
  const { ranks: matching, fromMs, toMs, hasTimes } = matcher;
  for (let index = 0; index < count; index++) {
    if (matching[ranks[index] ?? 0] === 0) continue;
    if (hasTimes) {
      const time = times[index] ?? Number.NaN;
      if (!(time >= fromMs && time < toMs)) continue;
    }
    if (index === 0) spans.firstContinues = table.firstContinues;
    spans.times.push(times[index] ?? Number.NaN);
    spans.ranks.push(ranks[index] ?? 0);
    spans.starts.push(starts[index] ?? 0);
    spans.ends.push(index + 1 < count ? (starts[index + 1] ?? end) : end);
  }
  return spans;
}

const NO_HEAD: LineHead = { timeMs: Number.NaN, rank: 0 };

/** The records that may match; the others are not even parsed. */
export function candidateSpans(scanner: BlockScanner, candidates: Candidates, matcher: RecordMatcher): Spans {
  const spans = noSpans();
  const end = scanner.recordsEnd();
  candidates.begin();
  let hit = candidates.next(1, end);
  if (hit < 0) return spans;
  const first = scanner.firstRecord();
  if (!first) return spans;
  let from = first.start;
  if (hit < from) hit = candidates.next(from, end);
  while (hit >= 0) {
    const { start, head = NO_HEAD } = scanner.recordAround(hit, from);
    // Decided before the end is searched: the head object is reused for the next line.
    const { timeMs, rank } = head;
    const headMatches = matcher.matchesHead(head);
    const stop = scanner.recordEnd(hit, end);
    if (headMatches && candidates.confirm(start, stop)) {
      if (start === first.start) spans.firstContinues = first.continues;
      spans.starts.push(start);
      spans.ends.push(stop);
      spans.times.push(timeMs);
      spans.ranks.push(rank);
    }
    from = stop;
    hit = from < end ? candidates.next(from, end) : -1;
  }
  return spans;
}

/** The records of a block whose heads match, if its text is not scrubbed: it is only if there are some. */
export function levelSpans(scan: PartScan, block: number, matcher: RecordMatcher): Spans {
  const { scanner } = scan;
  if (matcher.minRank >= ERROR_RANK && scan.hasNoErrors(block)) return noSpans();
  const { table, counts } = scan.unscrubbedRecords(block);
  // In most blocks no record has such a level: they need not be looked at one by one.
  const mayMatch = counts.some((count, rank) => count > 0 && matcher.ranks[rank] === 1);
  const spans = tableSpans(mayMatch ? table : { ...table, count: 0 }, matcher);
  return spans.starts.length > 0 && scanner.scrub() ? tableSpans(scanner.records(), matcher) : spans;
}

/** A matching record in the loaded text. One object is reused. */
export interface MatchedRecord {
  start: number;
  end: number;
  /** `NaN` if it has none. */
  timeMs: number;
  rank: number;
  /** It has no columns: all of it is message. */
  isHeadless: boolean;
}
