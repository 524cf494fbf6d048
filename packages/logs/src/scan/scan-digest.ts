import type { Format } from '../parse/format.ts';
import { findColumns } from '../parse/record-columns.ts';
import type { BlockScanner } from './block-scanner.ts';
import { matchNeedle, matchTable, needleOf } from './find-matches.ts';
import type { DigestJob, DigestResult, ScannedGroup } from './jobs.ts';
import { messageShape } from './message-shape.ts';
import type { RecordMatcher } from './record-matcher.ts';
import { PartScan, type ScanTools } from './scan-part.ts';

/** Groups of one job; records of further ones are only counted. */
const MAX_GROUPS = 5000;

/** Decoded to learn what a record is: enough for its head and the start of its message. */
const LOOKED_AT_BYTES = 4096;

/** Matching records by level and place of origin. */
export function scanDigest(job: DigestJob, matcher: RecordMatcher, tools: ScanTools): DigestResult {
  const scan = new PartScan(job, tools);
  const { scanner, report } = scan;
  const groups = new Groups();
  const needle = needleOf(job.filter, tools.format.name);
  if (needle) tools.kernel.lookFor(needle);

  for (const block of scan.blocks()) {
    const { count, starts, ends } = needle
      ? matchNeedle(scanner, tools.kernel, matcher, tools.format)
      : matchTable(scanner, scan.records(block), matcher, tools.format);
    for (let index = 0; index < count; index++) {
      const start = starts[index] ?? 0;
      if (!scan.isInside(start)) continue;
      const end = Math.min(ends[index] ?? start, start + LOOKED_AT_BYTES);
      groups.count(originOf(tools.format, scanner.bytes, start, end), scanner, start);
    }
  }
  return { ...report, groups: groups.all, ungrouped: groups.ungrouped };
}

interface Origin {
  source: string | null;
  shape: string | null;
}

function originOf(format: Format, bytes: Buffer, start: number, end: number): Origin {
  if (format.name === 'contract') {
    // The column alone, without decoding message and context: digests look at every record.
    const { source } = findColumns(bytes, start, lineEnd(bytes, start, end));
    if (source.end > source.start) return { source: bytes.toString('latin1', source.start, source.end), shape: null };
  }
  const { source, message } = format.decode(bytes, start, end);
  return source === undefined ? { source: null, shape: messageShape(message) } : { source, shape: null };
}

function lineEnd(bytes: Buffer, start: number, end: number): number {
  const newline = bytes.indexOf(10, start);
  return newline < 0 || newline >= end ? end : newline + 1;
}

/** Groups by origin first, then by level: most records are of an origin that has one level only. */
class Groups {
  readonly all: ScannedGroup[] = [];
  ungrouped = 0;
  readonly #bySource = new Map<string, ScannedGroup[]>();
  readonly #byShape = new Map<string, ScannedGroup[]>();

  count({ source, shape }: Origin, scanner: BlockScanner, start: number): void {
    const { timeMs, rank } = scanner.headAt(start) ?? NO_HEAD;
    const offset = scanner.offsetOf(start);
    const [map, key] = source === null ? [this.#byShape, shape ?? ''] : [this.#bySource, source];
    const ofOrigin = map.get(key);
    const group = ofOrigin?.find((candidate) => candidate.rank === rank);
    if (group) {
      addTo(group, timeMs, offset);
    } else if (this.all.length >= MAX_GROUPS) {
      this.ungrouped++;
    } else {
      const added = { rank, source, shape, count: 1, firstMs: timeMs, lastMs: timeMs, offset };
      this.all.push(added);
      map.set(key, [...(ofOrigin ?? []), added]);
    }
  }
}

const NO_HEAD = { timeMs: Number.NaN, rank: 0 };

function addTo(group: ScannedGroup, timeMs: number, offset: number): void {
  group.count++;
  // A record without a time is the last one only where none has a time.
  if (timeMs < group.firstMs || Number.isNaN(group.firstMs)) group.firstMs = timeMs;
  if (timeMs >= group.lastMs || Number.isNaN(group.lastMs)) {
    group.lastMs = timeMs;
    group.offset = offset;
  }
}
