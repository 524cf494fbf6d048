import { levelRank } from '../../parse/level.ts';
import { findColumns } from '../../parse/record-columns.ts';
import { mergeShapes } from '../../shapes/merge-shapes.ts';
import { messageShape } from '../../shapes/message-shape.ts';
import { SHOWN_BYTES } from '../block/record-formatter.ts';
import type { DigestJob, DigestResult, ScannedGroup } from '../jobs.ts';
import { candidateSpans, createCandidates, tableSpans } from '../match/find-matches.ts';
import type { RecordMatcher } from '../match/record-matcher.ts';
import { PartScan, type ScanTools } from './scan-part.ts';

/** Groups of one job. If there are more, similar shapes are merged early; what does not fit even then is only counted. */
const MAX_GROUPS = 5000;

/** Merging early is repeated only if it has left so much room. */
const MERGED_GROUPS = (MAX_GROUPS * 3) / 4;

/** Matching records by level and origin. */
export function scanDigest(job: DigestJob, matcher: RecordMatcher, tools: ScanTools): DigestResult {
  const scan = new PartScan(job, tools);
  const { scanner, report } = scan;
  const groups = new Groups();
  const candidates = createCandidates(matcher, tools);

  for (const block of scan.blocks()) {
    const spans = candidates ? candidateSpans(scanner, candidates, matcher) : tableSpans(scan.records(block), matcher);
    for (const index of scan.matching(spans, matcher)) {
      const start = spans.starts[index] ?? 0;
      const end = Math.min(spans.ends[index] ?? start, start + SHOWN_BYTES);
      groups.count(readKind(tools, scanner.bytes, start, end), scanner.toOffset(start));
    }
    if (report.pausedAt !== undefined) break;
  }
  return { ...report, groups: groups.all, ungrouped: groups.ungrouped };
}

/** The properties of a record that determine its group. */
interface Kind {
  source: string | null;
  shape: string | null;
  rank: number;
  timeMs: number;
}

function readKind({ format, zone }: ScanTools, bytes: Buffer, start: number, end: number): Kind {
  if (format.name === 'contract') {
    // The columns alone, without decoding message and context: digests process every record.
    const { source, level, localMs } = findColumns(bytes, start, lineEnd(bytes, start, end));
    if (source.end > source.start && localMs !== undefined) {
      const name = bytes.toString('utf8', source.start, source.end);
      return { source: name, shape: null, rank: levelRank(level), timeMs: zone.toEpochMs(localMs) };
    }
  }
  const { source = null, message, level, timeMs = Number.NaN } = format.decode(bytes, start, end);
  return { source, shape: source === null ? messageShape(message) : null, rank: levelRank(level), timeMs };
}

function lineEnd(bytes: Buffer, start: number, end: number): number {
  const newline = bytes.indexOf(10, start);
  return newline < 0 || newline >= end ? end : newline + 1;
}

/** Groups by origin first, then by level: most origins have records of one level only. */
class Groups {
  all: ScannedGroup[] = [];
  ungrouped = 0;
  #mayMerge = true;
  readonly #bySource = new Map<string, ScannedGroup[]>();
  readonly #byShape = new Map<string, ScannedGroup[]>();

  count({ source, shape, rank, timeMs }: Kind, offset: number): void {
    const ofOrigin = this.#find(source, shape);
    const group = ofOrigin?.find((candidate) => candidate.rank === rank);
    if (group) {
      addTo(group, timeMs, offset);
      return;
    }
    if (this.all.length >= MAX_GROUPS && this.#mayMerge) this.#mergeShapes();
    if (this.all.length >= MAX_GROUPS) this.ungrouped++;
    else this.#add({ rank, source, shape, count: 1, firstMs: timeMs, lastMs: timeMs, offset });
  }

  #find(source: string | null, shape: string | null): ScannedGroup[] | undefined {
    return source === null ? this.#byShape.get(shape ?? '') : this.#bySource.get(source);
  }

  #add(group: ScannedGroup): void {
    const { source, shape } = group;
    const ofOrigin = this.#find(source, shape);
    this.all.push(group);
    if (ofOrigin) ofOrigin.push(group);
    else if (source === null) this.#byShape.set(shape ?? '', [group]);
    else this.#bySource.set(source, [group]);
  }

  #mergeShapes(): void {
    const { all } = this;
    const merged = mergeShapes(all.flatMap(({ shape }) => shape ?? []));
    this.all = [];
    this.#bySource.clear();
    this.#byShape.clear();
    for (const group of all) {
      const { source, rank } = group;
      const shape = group.shape === null ? null : (merged.get(group.shape) ?? group.shape);
      const known = this.#find(source, shape)?.find((candidate) => candidate.rank === rank);
      if (known) joinGroup(known, group);
      else this.#add({ ...group, shape });
    }
    this.#mayMerge = this.all.length <= MERGED_GROUPS;
  }
}

function addTo(group: ScannedGroup, timeMs: number, offset: number): void {
  group.count++;
  // A record without a time is the last one only if none has a time.
  if (timeMs < group.firstMs || Number.isNaN(group.firstMs)) group.firstMs = timeMs;
  if (timeMs >= group.lastMs || Number.isNaN(group.lastMs)) {
    group.lastMs = timeMs;
    group.offset = offset;
  }
}

function joinGroup(known: ScannedGroup, { count, firstMs, lastMs, offset }: ScannedGroup): void {
  known.count += count;
  if (firstMs < known.firstMs || Number.isNaN(known.firstMs)) known.firstMs = firstMs;
  const isSameTime = Object.is(lastMs, known.lastMs);
  if (isSameTime ? offset > known.offset : lastMs > known.lastMs || Number.isNaN(known.lastMs)) {
    known.lastMs = lastMs;
    known.offset = offset;
  }
}
