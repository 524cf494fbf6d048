import { LEVELS_BY_RANK } from '../parse/level.ts';
import { NOTICES } from '../query/notices.ts';
import { BLOCK_BYTES, blockAt } from '../scan/block/blocks.ts';
import { shownBytesEach } from '../scan/block/record-formatter.ts';
import type { DigestJob, DigestResult } from '../scan/digest/digest-jobs.ts';
import { RecordMatcher } from '../scan/match/record-matcher.ts';
import type { Digest, DigestBaseline, DigestGroup, DigestQuery, FoundRecord, RecordFilter } from '../types.ts';
import { FamilyCount } from './count-families.ts';
import { type GroupState, GroupTable, KnownGroups } from './digest-groups.ts';
import { familyRecords, lineAt, parseRecord } from './family-records.ts';
import { type OpenFamily, releaseFamily } from './files/open-family.ts';
import type { FilePart } from './plan/file-parts.ts';
import type { ScanContext } from './scan-context.ts';
import { ScanTally } from './scan-tally.ts';
import { type SearchOptions, StopReason } from './stop-reason.ts';

/** Matching records by level and origin, the largest groups first. Takes ownership of the families. */
export async function digest(
  scanContext: ScanContext,
  families: readonly OpenFamily[],
  query: DigestQuery,
  options: SearchOptions = {},
): Promise<Digest> {
  const stop = new StopReason(options);
  try {
    await scanContext.checkRegex(query, stop.newFlag());
    const table = new GroupTable();
    const scan = { scanContext, families, stop };
    const count = await scanGroups(scan, query, {
      add: (group) => table.count(group),
      skip: (records) => {
        table.ungrouped += records;
        table.records += records;
      },
    });
    const end = await count.end(table.records);
    const { newSinceMs, onlyNew = false, limit } = query;
    const past = newSinceMs === undefined ? undefined : await readPast(scan, { ...query, newSinceMs }, table);
    scanContext.indexes.trim();
    table.mergeShapes();
    const judge = (group: GroupState) => (past ? past.judge(group) : OLD);
    const all = table.largestFirst().filter((group) => !onlyNew || judge(group) !== OLD);
    const groups: DigestGroup[] = [];
    const shown = all.slice(0, limit);
    for (const group of shown) {
      const sample = await readSample(scanContext, group, shownBytesEach(shown.length));
      if (sample) groups.push(toDigestGroup(group, sample, judge(group)));
    }
    const baseline = past && { baseline: past.baseline };
    return { groups, totalGroups: all.length, ungrouped: table.ungrouped, ...baseline, end };
  } finally {
    stop.end();
    for (const family of families) releaseFamily(family);
  }
}

interface GroupScan {
  scanContext: ScanContext;
  families: readonly OpenFamily[];
  stop: StopReason;
}

/** Scans the groups of matching records. `skip` receives how many are in none. */
async function scanGroups(
  { scanContext, families, stop }: GroupScan,
  filter: RecordFilter,
  { add, skip }: { add(group: GroupState): void; skip(records: number): void },
): Promise<FamilyCount<DigestJob>> {
  const matcher = new RecordMatcher(filter);
  const known = matcher.headOnly ? new KnownGroups(matcher) : undefined;
  const jobFor = ({ file, runs, startBytes, endBytes }: FilePart): DigestJob => {
    return { kind: 'digest', file, runs, startBytes, endBytes, filter };
  };
  const count = new FamilyCount(scanContext, families, { filter, stop, known, jobFor });
  for await (const { family, part, result } of count.results()) {
    skip(result.ungrouped);
    const place = { family, file: part.number, familyNumber: families.indexOf(family) };
    for (const group of result.groups) add({ ...group, ...place });
    keepGroups(part, result);
  }
  known?.addTo(add, families);
  return count;
}

/** Whether a group is new; an old one has records before that time. */
type Judgement = Pick<DigestGroup, 'isNew' | 'isNewUnknown'>;
const OLD: Judgement = { isNew: false };
const NEW: Judgement = { isNew: true };
const UNKNOWN: Judgement = { isNew: false, isNewUnknown: true };

interface Past {
  baseline: DigestBaseline;
  judge(group: GroupState): Judgement;
}

/** Reads what the counted range lacks of the records before `newSinceMs`, into the same table, so that shapes merge alike. */
async function readPast(
  scan: GroupScan,
  query: DigestQuery & { newSinceMs: number },
  table: GroupTable,
): Promise<Past> {
  const { fromMs, toMs = Infinity, newSinceMs } = query;
  const oldest = table.largestFirst().reduce((first, { firstMs }) => (firstMs < first ? firstMs : first), Infinity);
  let [firstMs, lost] = [oldest, table.ungrouped];
  // Without a start all of them are in the range; before the end of a range everything is old.
  if (fromMs !== undefined && newSinceMs < toMs) {
    const see = (group: GroupState) => {
      if (group.firstMs < firstMs) firstMs = group.firstMs;
      if (!table.see(group)) lost += group.count;
    };
    const filter = { ...query, fromMs: -Infinity, toMs: Math.min(fromMs, newSinceMs) };
    await scanGroups(scan, filter, { add: see, skip: (records) => (lost += records) });
  }
  const detail = incompleteness(scan, lost);
  const isComplete = detail === undefined;
  return {
    baseline: { fromMs: firstMs < newSinceMs ? firstMs : null, isComplete, ...(detail !== undefined && { detail }) },
    judge: (group) => {
      if (group.wasSeen || group.firstMs < newSinceMs) return OLD;
      return isComplete && !Number.isNaN(group.firstMs) ? NEW : UNKNOWN;
    },
  };
}

/** Why not all was read; `undefined` if it was. */
function incompleteness({ stop, families }: GroupScan, ungrouped: number): string | undefined {
  if (stop.reason) return `scan stopped: ${stop.reason}`;
  const failure = families.flatMap(({ problems }) => problems).find(({ code }) => !NOTICES.has(code));
  if (failure) return `${failure.file} could not be read: ${failure.detail}`;
  return ungrouped > 0 ? 'too many groups' : undefined;
}

/** For the next digest, which then need not scan these blocks. */
function keepGroups({ index, file }: FilePart, { kept, groups, summaries }: DigestResult): void {
  if (!kept) return;
  const checks = new Map(summaries.map(({ block, check }) => [block, check]));
  index.groups.keep(kept, {
    kinds: groups,
    checkOf: (block) => checks.get(block),
    startOf: (block) => block * BLOCK_BYTES,
    scrubId: file.scrub?.id,
  });
}

/** The newest record of a group, read again by its position. */
async function readSample(
  scanContext: ScanContext,
  { family, file, offset }: GroupState,
  shownBytes: number,
): Promise<FoundRecord | undefined> {
  const task = {
    scanContext,
    family,
    range: { from: { file, offset }, to: { file, offset: Math.min(offset + 1, (blockAt(offset) + 1) * BLOCK_BYTES) } },
    matcher: new RecordMatcher({}),
    newestFirst: false,
    flag: new StopReason({}).newFlag(),
    tally: new ScanTally(),
    ahead: 0,
  };
  for await (const { found } of familyRecords(task, { filter: {}, raw: false, shownBytes, wanted: () => 1 })) {
    return found.ends.length === 0 ? undefined : parseRecord(lineAt(found, 0));
  }
  return undefined;
}

function toDigestGroup(group: GroupState, sample: FoundRecord, judgement: Judgement): DigestGroup {
  const { rank, source, shape, count, firstMs, lastMs } = group;
  return {
    level: LEVELS_BY_RANK[rank] ?? null,
    source,
    shape,
    count,
    firstMs: Number.isNaN(firstMs) ? null : firstMs,
    lastMs: Number.isNaN(lastMs) ? null : lastMs,
    ...judgement,
    sample,
  };
}
