import type { KeptGroups } from '../block-index/block-index.ts';
import { LEVELS_BY_RANK } from '../parse/level.ts';
import { NOTICES } from '../query/match-query.ts';
import { BLOCK_BYTES, type BlockSummary, blockAt } from '../scan/block/blocks.ts';
import { shownBytesEach } from '../scan/block/record-formatter.ts';
import type { DigestJob, DigestResult, ScannedGroup } from '../scan/digest/scanned-groups.ts';
import { RecordMatcher } from '../scan/match/record-matcher.ts';
import { GroupTable } from '../shapes/group-table.ts';
import type { Digest, DigestBaseline, DigestGroup, DigestQuery, FoundRecord, RecordFilter } from '../types.ts';
import { FamilyCount } from './count-families.ts';
import { familyRecords, lineAt, parseRecord } from './family-records.ts';
import { type OpenFamily, releaseFamily } from './files/open-family.ts';
import type { BlockOwner, FilePart, KnownBlocks } from './plan/file-parts.ts';
import { ScanTally } from './plan/scan-tally.ts';
import type { ScanContext } from './scan-context.ts';
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
    const table = new GroupTable<GroupState>({ levelOf: ({ rank }) => rank, join: joinGroup });
    let records = 0;
    const scan = { scanContext, families, stop };
    const count = await scanGroups(scan, query, {
      add: (group) => {
        records += group.count;
        table.count(group);
      },
      skip: (skipped) => {
        records += skipped;
        table.ungrouped += skipped;
      },
    });
    const end = await count.end(records);
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
    keepGroups(part, result, matcher.minRank);
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
  table: GroupTable<GroupState>,
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
function keepGroups({ index, file }: FilePart, { kept, groups, summaries }: DigestResult, minRank: number): void {
  if (!kept) return;
  const checks = new Map(summaries.map(({ block, check }) => [block, check]));
  index.groups.keep(kept, {
    kinds: groups,
    checkOf: (block) => checks.get(block),
    startOf: (block) => block * BLOCK_BYTES,
    scrubId: file.scrub?.id,
    minRank,
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

/** A group and the position of its newest record. */
interface GroupState extends ScannedGroup {
  family: OpenFamily;
  /** Index of the file in the family. */
  file: number;
  /** The index of the family among all of the query. */
  familyNumber: number;
  /** There are records of it before the counted range. */
  wasSeen?: boolean;
}

function joinGroup(known: GroupState, group: GroupState): void {
  if (group.firstMs < known.firstMs || Number.isNaN(known.firstMs)) known.firstMs = group.firstMs;
  if (!isNewer(group, known)) return;
  const { lastMs, offset, file, family, familyNumber } = group;
  Object.assign(known, { lastMs, offset, file, family, familyNumber });
}

/** The newest of records with the same time, or without one, is the last one of the last file. */
function isNewer(group: GroupState, known: GroupState): boolean {
  if (!Object.is(group.lastMs, known.lastMs)) return group.lastMs > known.lastMs || Number.isNaN(known.lastMs);
  if (group.familyNumber !== known.familyNumber) return group.familyNumber > known.familyNumber;
  return group.file === known.file ? group.offset > known.offset : group.file > known.file;
}

/** Sums of what is known of the blocks of a file, by the ids of its groups. */
interface FileSums {
  owner: BlockOwner;
  sums: Map<number, { count: number; firstMs: number; lastMs: number; offset: number }>;
}

/** Counts blocks by the groups that earlier digests found in them. */
class KnownGroups implements KnownBlocks {
  readonly #matcher: RecordMatcher;
  readonly #files = new Map<KeptGroups, FileSums>();

  constructor(matcher: RecordMatcher) {
    this.#matcher = matcher;
  }

  mayTake({ all, block, check }: BlockSummary, { index, file }: BlockOwner): boolean {
    const { hasTimes, fromMs, toMs, minRank } = this.#matcher;
    const how = { scrubId: file.scrub?.id, minRank };
    if (!all || !index.groups.has(block, check, how)) return false;
    return !hasTimes || (all.untimed === 0 && all.minMs >= fromMs && all.maxMs < toMs);
  }

  take(summary: BlockSummary, owner: BlockOwner): boolean {
    if (!this.mayTake(summary, owner)) return false;
    const { groups } = owner.index;
    const { ranks } = this.#matcher;
    const { sums } = this.#files.get(groups) ?? this.#begin(groups, owner);
    groups.take(summary.block, (id, count, offsetInBlock, firstMs, lastMs) => {
      if (ranks[groups.kinds[id]?.rank ?? 0] === 0) return;
      const offset = summary.block * BLOCK_BYTES + offsetInBlock;
      const sum = sums.get(id);
      if (!sum) {
        sums.set(id, { count, firstMs, lastMs, offset });
        return;
      }
      sum.count += count;
      if (firstMs < sum.firstMs || Number.isNaN(sum.firstMs)) sum.firstMs = firstMs;
      const isSameTime = Object.is(lastMs, sum.lastMs);
      if (isSameTime ? offset < sum.offset : !(lastMs > sum.lastMs || Number.isNaN(sum.lastMs))) return;
      sum.lastMs = lastMs;
      sum.offset = offset;
    });
    return true;
  }

  /** Passes on all that was taken. */
  addTo(add: (group: GroupState) => void, families: readonly OpenFamily[]): void {
    for (const [{ kinds }, { owner, sums }] of this.#files) {
      const { family, number: file } = owner;
      const place = { family, file, familyNumber: families.indexOf(family) };
      for (const [id, sum] of sums) {
        const kind = kinds[id];
        if (kind) add({ ...kind, ...sum, ...place });
      }
    }
  }

  #begin(groups: KeptGroups, owner: BlockOwner): FileSums {
    const file: FileSums = { owner, sums: new Map() };
    this.#files.set(groups, file);
    return file;
  }
}
