import { LEVELS_BY_RANK } from '../parse/level.ts';
import { BLOCK_BYTES, blockOf } from '../scan/blocks.ts';
import type { DigestJob, ScannedGroup } from '../scan/jobs.ts';
import { RecordMatcher } from '../scan/record-matcher.ts';
import { shareOf } from '../scan/show-record.ts';
import type { Digest, DigestGroup, DigestQuery, FoundRecord } from '../types.ts';
import { FamilyCount } from './count-families.ts';
import { familyRecords, lineOf, recordOf } from './family-records.ts';
import type { FilePart } from './file-parts.ts';
import { type OpenFamily, releaseFamily } from './open-family.ts';
import type { ScanShop } from './scan-shop.ts';
import { ScanTally } from './scan-tally.ts';
import { type AskOptions, StopReason } from './stop-reason.ts';

/** Groups kept while scanning; records of further ones are only counted. */
const MAX_GROUPS = 20_000;

/** A group and where its newest record stands. */
interface Gathered extends ScannedGroup {
  family: OpenFamily;
  /** Number of the file in the family. */
  file: number;
}

/** Matching records by level and place of origin, the largest groups first. Takes over the families. */
export async function digest(
  shop: ScanShop,
  families: readonly OpenFamily[],
  query: DigestQuery,
  options: AskOptions = {},
): Promise<Digest> {
  const stop = new StopReason(options);
  try {
    await shop.checkRegex(query, stop.newFlag());
    const gathering = new Gathering();
    const jobFor = ({ file, runs, startBytes, endBytes }: FilePart): DigestJob => {
      return { kind: 'digest', file, runs, startBytes, endBytes, filter: query };
    };
    const count = new FamilyCount(shop, families, { filter: query, stop, jobFor });
    for await (const { family, part, result } of count.results()) {
      gathering.ungrouped += result.ungrouped;
      for (const group of result.groups) gathering.add({ ...group, family, file: part.number });
    }
    const { newSinceMs = Infinity, onlyNew = false, limit } = query;
    const isNew = ({ firstMs }: Gathered) => firstMs >= newSinceMs;
    const all = gathering.largestFirst().filter((group) => !onlyNew || isNew(group));
    const groups: DigestGroup[] = [];
    const told = all.slice(0, limit);
    for (const group of told) {
      const sample = await sampleOf(shop, group, shareOf(told.length));
      if (sample) groups.push(tellGroup(group, sample, isNew(group)));
    }
    const end = await count.end(gathering.records);
    return { groups, totalGroups: all.length, ungrouped: gathering.ungrouped, end };
  } finally {
    stop.end();
    for (const family of families) releaseFamily(family);
  }
}

class Gathering {
  ungrouped = 0;
  records = 0;
  readonly #groups = new Map<string, Gathered>();

  add(group: Gathered): void {
    const { rank, source, shape } = group;
    this.records += group.count;
    const key = JSON.stringify([rank, source, shape]);
    const known = this.#groups.get(key);
    if (known) {
      known.count += group.count;
      if (group.firstMs < known.firstMs || Number.isNaN(known.firstMs)) known.firstMs = group.firstMs;
      if (group.lastMs >= known.lastMs || Number.isNaN(known.lastMs)) Object.assign(known, newestOf(group));
    } else if (this.#groups.size < MAX_GROUPS) {
      this.#groups.set(key, group);
    } else {
      this.ungrouped += group.count;
    }
  }

  largestFirst(): Gathered[] {
    return [...this.#groups.values()].sort((a, b) => b.count - a.count);
  }
}

function newestOf({ lastMs, offset, file, family }: Gathered): Partial<Gathered> {
  return { lastMs, offset, file, family };
}

/** The newest record of a group, read again by its place. */
async function sampleOf(
  shop: ScanShop,
  { family, file, offset }: Gathered,
  shownBytes: number,
): Promise<FoundRecord | undefined> {
  const task = {
    shop,
    family,
    range: { from: { file, offset }, to: { file, offset: Math.min(offset + 1, (blockOf(offset) + 1) * BLOCK_BYTES) } },
    matcher: new RecordMatcher({}),
    newestFirst: false,
    flag: new StopReason({}).newFlag(),
    tally: new ScanTally(),
    ahead: 0,
  };
  for await (const { found } of familyRecords(task, { filter: {}, raw: false, shownBytes, wanted: () => 1 })) {
    return found.ends.length === 0 ? undefined : recordOf(lineOf(found, 0));
  }
  return undefined;
}

function tellGroup(group: Gathered, sample: FoundRecord, isNew: boolean): DigestGroup {
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
