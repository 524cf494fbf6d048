import { makeNeedle } from '../kernel/needle.ts';
import type { Needle, ScanKernel } from '../kernel/scan-kernel.ts';
import type { Format, FormatName, LineHead } from '../parse/format.ts';
import type { RecordFilter } from '../types.ts';
import type { BlockScanner } from './block-scanner.ts';
import { isAscii, type RecordMatcher } from './record-matcher.ts';
import type { RecordTable } from './record-table.ts';
import { requiredText } from './required-text.ts';
import type { PartScan } from './scan-part.ts';

/** Where matching records of a block stand, as positions in the loaded text, in file order. */
export interface Matches {
  count: number;
  starts: number[];
  ends: number[];
  /** Whether the first record of the block is among them and is a part of a longer one. */
  firstContinues: boolean;
}

/** A text every matching record must hold, if there is one: blocks without it are done at the speed of memory. */
export function needleOf(filter: RecordFilter, format: FormatName): Needle | undefined {
  const { terms = [], caseSensitive = false, regex } = filter;
  // In JSON and logfmt, columns may be written with escapes or put together from several.
  const { source, component }: RecordFilter = format === 'json' || format === 'iso' ? {} : filter;
  const exact = [...(source === undefined ? [] : [source])];
  const folded = [...terms, ...(component === undefined ? [] : [component])];
  if (regex !== undefined) folded.push(requiredText(regex, { caseSensitive }));
  const candidates = [
    ...exact.map((text) => ({ text, caseSensitive: true })),
    ...folded.map((text) => ({ text, caseSensitive: caseSensitive && text !== component })),
  ].filter(({ text, caseSensitive: exactly }) => text !== '' && (exactly || isAscii(text)));
  // The longest one is the rarest, as a rule.
  const [best] = candidates.sort((a, b) => Buffer.byteLength(b.text) - Buffer.byteLength(a.text));
  return best && makeNeedle(best.text, best);
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

/** Matches among the records that hold what the kernel looks for; the others are not even taken apart. */
export function matchNeedle(
  scanner: BlockScanner,
  kernel: ScanKernel,
  matcher: RecordMatcher,
  format: Format,
): Matches {
  const matches: Matches = { count: 0, starts: [], ends: [], firstContinues: false };
  const end = scanner.recordsEnd();
  let hit = kernel.find(1, end);
  if (hit < 0) return matches;
  const first = scanner.firstRecord();
  let from = first.start;
  if (hit < from) hit = kernel.find(from, end);
  while (hit >= 0) {
    const { start, head = NO_HEAD } = scanner.recordAround(hit, from);
    // Decided before the end is looked for: the head is filled again by the next line that is looked at.
    const headMatches = matcher.matchesHead(head);
    const stop = scanner.recordEnd(hit, end);
    if (headMatches && matcher.matchesText(scanner.bytes, start, stop, format)) {
      if (start === first.start) matches.firstContinues = first.continues;
      matches.starts.push(start);
      matches.ends.push(stop);
    }
    from = stop;
    hit = from < end ? kernel.find(from, end) : -1;
  }
  matches.count = matches.starts.length;
  return matches;
}

/** Matches among the records that have at least the level asked for; the others are passed over. */
export function matchLevels(scan: PartScan, block: number, matcher: RecordMatcher, format: Format): Matches {
  const matches: Matches = { count: 0, starts: [], ends: [], firstContinues: false };
  const { scanner } = scan;
  const { starts, times, ranks, end } = scan.recordsAtLeast(block, matcher.minRank);
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
