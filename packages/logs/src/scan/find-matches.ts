import { makeNeedle } from '../kernel/needle.ts';
import type { Needle } from '../kernel/scan-kernel.ts';
import type { Format, FormatName, LineHead } from '../parse/format.ts';
import { Candidates } from '../regex/candidates.ts';
import type { RegexPrefilter } from '../regex/prefilter.ts';
import { rarityOfTexts } from '../regex/required-texts.ts';
import type { RecordFilter } from '../types.ts';
import type { BlockScanner } from './block-scanner.ts';
import { isAscii, type RecordMatcher } from './record-matcher.ts';
import type { RecordTable } from './record-table.ts';
import type { PartScan, ScanTools } from './scan-part.ts';

/** Where matching records of a block stand, as positions in the loaded text, in file order. */
export interface Matches {
  count: number;
  starts: number[];
  ends: number[];
  /** Whether the first record of the block is among them and is a part of a longer one. */
  firstContinues: boolean;
}

/**
 * What finds the records that come into question without taking all others apart; `undefined` where nothing can.
 * With `textsOnly`, only what does it at the speed of memory.
 */
export function candidatesOf(
  filter: RecordFilter,
  { prefilter }: RecordMatcher,
  { kernel, format, textsOnly = false }: Pick<ScanTools, 'kernel' | 'format'> & { textsOnly?: boolean },
): Candidates | undefined {
  const needleSets = needleSetsOf(filter, format.name, prefilter);
  const canWalk = !textsOnly && prefilter?.automaton !== undefined;
  return needleSets.length > 0 || canWalk ? new Candidates(kernel, needleSets, prefilter) : undefined;
}

/** Sets of texts, of each of which every matching record must hold one; likely the rarest first. */
function needleSetsOf(filter: RecordFilter, format: FormatName, prefilter: RegexPrefilter | undefined): Needle[][] {
  const { terms = [], caseSensitive = false } = filter;
  // In JSON and logfmt, columns may be written with escapes or put together from several.
  const { source, component }: RecordFilter = format === 'json' || format === 'iso' ? {} : filter;
  const conditions = [
    ...(source === undefined ? [] : [{ texts: [source], caseSensitive: true }]),
    ...terms.map((term) => ({ texts: [term], caseSensitive })),
    ...(component === undefined ? [] : [{ texts: [component], caseSensitive: false }]),
    ...(prefilter?.textSets ?? []).map((texts) => ({ texts, caseSensitive })),
  ];
  return conditions
    .filter(({ texts, caseSensitive: exactly }) => texts.every((text) => text !== '' && (exactly || isAscii(text))))
    .sort((a, b) => rarityOfTexts(b.texts) - rarityOfTexts(a.texts))
    .map(({ texts, caseSensitive: exactly }) => texts.map((text) => makeNeedle(text, { caseSensitive: exactly })));
}

/** Matches among all records of the block. */
export function matchTable(scanner: BlockScanner, table: RecordTable, matcher: RecordMatcher, format: Format): Matches {
  const matches: Matches = { count: 0, starts: [], ends: [], firstContinues: false };
  const { count, starts, times, ranks, end } = table;
  const { minRank, fromMs, toMs, hasTimes, headOnly } = matcher;
  for (let index = 0; index < count; index++) {
    if ((ranks[index] ?? 0) < minRank) continue;
    if (hasTimes) {
      const time = times[index] ?? Number.NaN;
      if (!(time >= fromMs && time < toMs)) continue;
    }
    const start = starts[index] ?? 0;
    const stop = index + 1 < count ? (starts[index + 1] ?? end) : end;
    if (!headOnly && !matcher.matchesText(scanner.bytes, start, stop, format)) continue;
    if (index === 0) matches.firstContinues = table.firstContinues;
    matches.starts.push(start);
    matches.ends.push(stop);
  }
  matches.count = matches.starts.length;
  return matches;
}

const NO_HEAD: LineHead = { timeMs: Number.NaN, rank: 0 };

/** Matches among the records that come into question; the others are not even taken apart. */
export function matchCandidates(
  scanner: BlockScanner,
  candidates: Candidates,
  matcher: RecordMatcher,
  format: Format,
): Matches {
  const matches: Matches = { count: 0, starts: [], ends: [], firstContinues: false };
  if (!scanner.isScrubbed && !candidates.mayBeIn(1, scanner.recordsEnd())) return matches;
  scanner.scrub();
  const end = scanner.recordsEnd();
  candidates.begin();
  let hit = candidates.next(1, end);
  if (hit < 0) return matches;
  const first = scanner.firstRecord();
  if (!first) return matches;
  let from = first.start;
  if (hit < from) hit = candidates.next(from, end);
  while (hit >= 0) {
    const { start, head = NO_HEAD } = scanner.recordAround(hit, from);
    // Decided before the end is looked for: the head is filled again by the next line that is looked at.
    const headMatches = matcher.matchesHead(head);
    const stop = scanner.recordEnd(hit, end);
    if (headMatches && candidates.confirm(start, stop) && matcher.matchesText(scanner.bytes, start, stop, format)) {
      if (start === first.start) matches.firstContinues = first.continues;
      matches.starts.push(start);
      matches.ends.push(stop);
    }
    from = stop;
    hit = from < end ? candidates.next(from, end) : -1;
  }
  matches.count = matches.starts.length;
  return matches;
}

/** Matches among the records that have at least the level asked for; the others are passed over. */
export function matchLevels(scan: PartScan, block: number, matcher: RecordMatcher, format: Format): Matches {
  const matches: Matches = { count: 0, starts: [], ends: [], firstContinues: false };
  const { scanner } = scan;
  const { starts, times, ranks, end } = scan.recordsAtLeast(block, matcher.minRank);
  if (starts.length > 0) scanner.scrub();
  starts.forEach((start, index) => {
    if (!matcher.matchesHead({ timeMs: times[index] ?? Number.NaN, rank: ranks[index] ?? 0 })) return;
    const stop = scanner.recordEnd(start, end);
    if (!matcher.matchesText(scanner.bytes, start, stop, format)) return;
    matches.starts.push(start);
    matches.ends.push(stop);
  });
  matches.count = matches.starts.length;
  return matches;
}
