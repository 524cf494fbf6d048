import { RecordMatcher } from '../scan/record-matcher.ts';
import type { FileProblem, FoundRecord, SearchEnd, SearchItem, SearchQuery } from '../types.ts';
import { addContext } from './context.ts';
import { familyRecords } from './family-records.ts';
import { recordGone } from './find-record.ts';
import { Lane, leadingLane } from './lane.ts';
import { type OpenFamily, releaseFamily } from './open-family.ts';
import { type FamilyPart, rangeOf } from './place.ts';
import type { ScanShop } from './scan-shop.ts';
import { ScanTally } from './scan-tally.ts';
import { type AskOptions, StopReason } from './stop-reason.ts';

/**
 * Tells the records of some families that match, batch by batch as they are found; the last item of the last batch is
 * the end. An empty batch comes first, as soon as the query has proven sound. Takes over the families and releases them.
 */
export async function* search(
  shop: ScanShop,
  families: readonly OpenFamily[],
  query: SearchQuery,
  options: AskOptions = {},
): AsyncGenerator<SearchItem[], void, undefined> {
  const tally = new ScanTally();
  const stop = new StopReason(options);
  const lanes: Lane[] = [];
  try {
    await shop.checkRegex(query);
    const parts = await Promise.all(families.map((family) => rangeOf(shop, family, query)));
    assertFound(parts);
    yield [];
    let told = 0;
    const wish = { filter: query, raw: query.raw ?? false, wanted: () => query.limit - told };
    const newestFirst = query.order === 'newest';
    const matcher = new RecordMatcher(query);
    families.forEach((family, number) => {
      const { range, cursor } = parts[number] as FamilyPart;
      const task = { shop, family, range, matcher, newestFirst, flag: stop.newFlag(), tally };
      lanes.push(new Lane(familyRecords(task, wish), { newestFirst, cursor }));
    });

    let batch: FoundRecord[] = [];
    while (!stop.reason && told < query.limit) {
      const lane = leadingLane(lanes, newestFirst);
      if (!lane) break;
      const record = lane.take();
      if (record) {
        batch.push(record);
        told++;
        continue;
      }
      if (batch.length > 0) yield await addContext(shop, families, query, batch);
      batch = [];
      await lane.pull();
    }
    if (batch.length > 0) yield await addContext(shop, families, query, batch);
    const reason = stop.reason ?? (lanes.every(({ isDone }) => isDone) ? 'exhausted' : 'limit');
    const problems = families.flatMap((family) => family.problems);
    yield [endItem(tally, lanes, { reason, told, problems })];
  } finally {
    stop.end();
    await Promise.all(lanes.map((lane) => lane.close()));
    for (const family of families) releaseFamily(family);
  }
}

/** A record that the query names must be known to one of the families. */
function assertFound(parts: readonly FamilyPart[]): void {
  for (const name of ['start', 'until'] as const) {
    if (parts.length > 0 && !parts.some(({ found }) => found[name])) throw recordGone();
  }
}

function endItem(
  tally: ScanTally,
  lanes: readonly Lane[],
  { reason, told, problems }: { reason: SearchEnd['reason']; told: number; problems: FileProblem[] },
): SearchEnd {
  const cursors = lanes.flatMap(({ cursor }) => (cursor === undefined ? [] : [cursor]));
  const cursor = reason === 'exhausted' || cursors.length === 0 ? null : cursors.join('~');
  return { type: 'end', ...tally.receipt(reason, told, problems), cursor };
}
