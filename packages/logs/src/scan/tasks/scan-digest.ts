import { levelRank } from '../../parse/level.ts';
import { findColumns } from '../../parse/record-columns.ts';
import { SHOWN_BYTES } from '../block/record-formatter.ts';
import type { DigestJob, DigestResult, ScannedGroup } from '../jobs.ts';
import { candidateSpans, createCandidates, tableSpans } from '../match/find-matches.ts';
import { messageShape } from '../match/message-shape.ts';
import type { RecordMatcher } from '../match/record-matcher.ts';
import { PartScan, type ScanTools } from './scan-part.ts';

/** Groups of one job; records of further ones are only counted. */
const MAX_GROUPS = 5000;

/** Matching records by level and origin. */
export function scanDigest(job: DigestJob, matcher: RecordMatcher, tools: ScanTools): DigestResult {
  const scan = new PartScan(job, tools);
  const { scanner, report } = scan;
  const groups = new Groups();
  const candidates = createCandidates(job.filter, matcher, tools);

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
  readonly all: ScannedGroup[] = [];
  ungrouped = 0;
  readonly #bySource = new Map<string, ScannedGroup[]>();
  readonly #byShape = new Map<string, ScannedGroup[]>();

  count({ source, shape, rank, timeMs }: Kind, offset: number): void {
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

function addTo(group: ScannedGroup, timeMs: number, offset: number): void {
  group.count++;
  // A record without a time is the last one only if none has a time.
  if (timeMs < group.firstMs || Number.isNaN(group.firstMs)) group.firstMs = timeMs;
  if (timeMs >= group.lastMs || Number.isNaN(group.lastMs)) {
    group.lastMs = timeMs;
    group.offset = offset;
  }
}
