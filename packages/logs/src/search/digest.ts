import { LEVELS_BY_RANK } from '../parse/level.ts';
import { BLOCK_BYTES, blockAt } from '../scan/block/blocks.ts';
import { shownBytesEach } from '../scan/block/record-formatter.ts';
import type { DigestJob, DigestResult } from '../scan/digest/digest-jobs.ts';
import { RecordMatcher } from '../scan/match/record-matcher.ts';
import type { Digest, DigestGroup, DigestQuery, FoundRecord } from '../types.ts';
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
    const matcher = new RecordMatcher(query);
    const known = matcher.headOnly ? new KnownGroups(matcher) : undefined;
    const jobFor = ({ file, runs, startBytes, endBytes }: FilePart): DigestJob => {
      return { kind: 'digest', file, runs, startBytes, endBytes, filter: query };
    };
    const count = new FamilyCount(scanContext, families, { filter: query, stop, known, jobFor });
    for await (const { family, part, result } of count.results()) {
      table.ungrouped += result.ungrouped;
      table.records += result.ungrouped;
      const place = { family, file: part.number, familyNumber: families.indexOf(family) };
      for (const group of result.groups) table.count({ ...group, ...place });
      keepGroups(part, result);
    }
    known?.addTo(table, families);
    scanContext.indexes.trim();
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
