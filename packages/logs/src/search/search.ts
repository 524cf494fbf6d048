import { decodeCursor } from '../cursor/cursor.ts';
import { RecordMatcher } from '../scan/record-matcher.ts';
import type { FileProblem, FoundRecord, SearchEnd, SearchItem, SearchQuery } from '../types.ts';
import { withContext } from './context.ts';
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
    const parts = await allSettled(families.map((family) => rangeOf(shop, family, query)));
    assertFound(parts, query);
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
      yield* withContext(shop, families, query, { records: batch, stop });
      batch = [];
      await lane.pull();
    }
    yield* withContext(shop, families, query, { records: batch, stop });
    const reason = stop.reason ?? (lanes.every(({ isDone }) => isDone) ? 'exhausted' : 'limit');
    const problems = families.flatMap((family) => family.problems);
    yield [endItem(tally, lanes, { reason, told, problems })];
  } finally {
    stop.end();
    await Promise.all(lanes.map((lane) => lane.close()));
    for (const family of families) releaseFamily(family);
  }
}

/** Like `Promise.all`, but fails only when none is under way any more: they use the files, which are released then. */
async function allSettled<T>(promises: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/**
 * A record that the query names must be known to one of the families. Of a cursor that names several, asked of all
 * logs, every one must be: a log in which its record is gone would be told from its start again.
 */
function assertFound(parts: readonly FamilyPart[], { file, family, start, until }: SearchQuery): void {
  if (parts.length === 0) return;
  const named = { start: start && 'cursor' in start ? start.cursor : undefined, until };
  for (const name of ['start', 'until'] as const) {
    const cursor = named[name];
    const isOfAll = cursor !== undefined && file === undefined && family === undefined;
    const least = isOfAll ? decodeCursor(cursor).length : 1;
    if (parts.filter(({ found }) => found[name]).length < least) throw recordGone();
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
