import { LEVELS_BY_RANK } from '../parse/level.ts';
import { BLOCK_BYTES, blockAt } from '../scan/block/blocks.ts';
import { shownBytesEach } from '../scan/block/record-formatter.ts';
import type { DigestJob, ScannedGroup } from '../scan/jobs.ts';
import { RecordMatcher } from '../scan/match/record-matcher.ts';
import { mergeShapes } from '../shapes/merge-shapes.ts';
import type { Digest, DigestGroup, DigestQuery, FoundRecord } from '../types.ts';
import { FamilyCount } from './count-families.ts';
import { familyRecords, lineAt, parseRecord } from './family-records.ts';
import { type OpenFamily, releaseFamily } from './files/open-family.ts';
import type { FilePart } from './plan/file-parts.ts';
import type { ScanContext } from './scan-context.ts';
import { ScanTally } from './scan-tally.ts';
import { type SearchOptions, StopReason } from './stop-reason.ts';

/**
 * Groups kept while scanning. If there are more, similar shapes are merged early; what does not fit even then is counted.
 * Merging happens on the main thread: with 20,000 different shapes it took up to 1.8 s, during which nobody was served.
 */
const MAX_GROUPS = 6_000;

/** Merging early is repeated only if it has left so much room. */
const MERGED_GROUPS = (MAX_GROUPS * 3) / 4;

/** A group and the position of its newest record. */
interface GroupState extends ScannedGroup {
  family: OpenFamily;
  /** Index of the file in the family. */
  file: number;
  /** Number of the result that the newest record came with, in scan order. */
  turn: number;
}

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
    const jobFor = ({ file, runs, startBytes, endBytes }: FilePart): DigestJob => {
      return { kind: 'digest', file, runs, startBytes, endBytes, filter: query };
    };
    const count = new FamilyCount(scanContext, families, { filter: query, stop, jobFor });
    let turn = 0;
    for await (const { family, part, result } of count.results()) {
      table.ungrouped += result.ungrouped;
      table.records += result.ungrouped;
      turn++;
      for (const group of result.groups) table.count({ ...group, family, file: part.number, turn });
    }
    table.mergeShapes();
    const { newSinceMs = Infinity, onlyNew = false, limit } = query;
    const isNew = ({ firstMs }: GroupState) => firstMs >= newSinceMs;
    const all = table.largestFirst().filter((group) => !onlyNew || isNew(group));
    const groups: DigestGroup[] = [];
    const shown = all.slice(0, limit);
    for (const group of shown) {
      const sample = await readSample(scanContext, group, shownBytesEach(shown.length));
      if (sample) groups.push(toDigestGroup(group, sample, isNew(group)));
    }
    const end = await count.end(table.records);
    return { groups, totalGroups: all.length, ungrouped: table.ungrouped, end };
  } finally {
    stop.end();
    for (const family of families) releaseFamily(family);
  }
}

class GroupTable {
  ungrouped = 0;
  records = 0;
  #mayMerge = true;
  #groups = new Map<string, GroupState>();

  count(group: GroupState): void {
    this.records += group.count;
    if (this.#groups.size >= MAX_GROUPS && this.#mayMerge) {
      this.mergeShapes();
      this.#mayMerge = this.#groups.size <= MERGED_GROUPS;
    }
    const key = toKey(group);
    const known = this.#groups.get(key);
    if (known) joinGroup(known, group);
    else if (this.#groups.size < MAX_GROUPS) this.#groups.set(key, group);
    else this.ungrouped += group.count;
  }

  /** Merges groups whose shapes differ in what varies by position only. */
  mergeShapes(): void {
    const groups = [...this.#groups.values()];
    const merged = mergeShapes(groups.flatMap(({ shape }) => shape ?? []));
    this.#groups = new Map();
    for (const group of groups) {
      if (group.shape !== null) group.shape = merged.get(group.shape) ?? group.shape;
      const key = toKey(group);
      const known = this.#groups.get(key);
      if (known) joinGroup(known, group);
      else this.#groups.set(key, group);
    }
  }

  /** Largest first; equal ones in an order that does not depend on the scan. */
  largestFirst(): GroupState[] {
    const sorted = [...this.#groups].sort(([aKey, a], [bKey, b]) => b.count - a.count || (aKey < bKey ? -1 : 1));
    return sorted.map(([, group]) => group);
  }
}

function toKey({ rank, source, shape }: GroupState): string {
  return JSON.stringify([rank, source, shape]);
}

function joinGroup(known: GroupState, group: GroupState): void {
  known.count += group.count;
  if (group.firstMs < known.firstMs || Number.isNaN(known.firstMs)) known.firstMs = group.firstMs;
  if (!isNewer(group, known)) return;
  const { lastMs, offset, file, family, turn } = group;
  Object.assign(known, { lastMs, offset, file, family, turn });
}

/** Of records with the same time, or without one, the newest is the last one scanned. */
function isNewer(group: GroupState, known: GroupState): boolean {
  if (!Object.is(group.lastMs, known.lastMs)) return group.lastMs > known.lastMs || Number.isNaN(known.lastMs);
  return group.turn === known.turn ? group.offset > known.offset : group.turn > known.turn;
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

function toDigestGroup(group: GroupState, sample: FoundRecord, isNew: boolean): DigestGroup {
  const { rank, source, shape, count, firstMs, lastMs } = group;
  return {
    level: LEVELS_BY_RANK[rank] ?? null,
    source,
    shape,
    count,
    firstMs: Number.isNaN(firstMs) ? null : firstMs,
    lastMs: Number.isNaN(lastMs) ? null : lastMs,
    isNew,
    sample,
  };
}
