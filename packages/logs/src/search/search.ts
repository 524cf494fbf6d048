import { BEGINNING, decodeCursor } from '../cursor/cursor.ts';
import { RecordMatcher } from '../scan/record-matcher.ts';
import type { FileProblem, SearchEnd, SearchQuery } from '../types.ts';
import { withContext } from './context.ts';
import { familyRecords } from './family-records.ts';
import { recordGone } from './find-record.ts';
import { Lane, leadingLane } from './lane.ts';
import { duplicatesOf, type OpenFamily, releaseFamily } from './open-family.ts';
import { type FamilyPart, rangeOf } from './place.ts';
import type { ScanShop } from './scan-shop.ts';
import { ScanTally } from './scan-tally.ts';
import { type AskOptions, StopReason } from './stop-reason.ts';

/**
 * Tells the records of some families that match, as lines of JSON, some at a time as they are found; the last line is
 * the end. An empty piece comes first, as soon as the query has proven sound. Takes over the families and releases them.
 */
export async function* searchLines(
  shop: ScanShop,
  families: readonly OpenFamily[],
  asked: SearchQuery,
  options: AskOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  const query = fromBeginning(asked);
  const tally = new ScanTally();
  const stop = new StopReason(options);
  const lanes: Lane[] = [];
  try {
    await shop.checkRegex(query);
    const finder = { shop, flag: stop.newSeekFlag() };
    const places = allSettled(families.map((family) => rangeOf(finder, family, query)));
    const found = await places.catch((error: unknown) => {
      if (stop.reason === 'cancelled') return undefined;
      throw error;
    });
    // Given up while places were looked for: nothing was covered.
    const parts = stop.reason === 'cancelled' ? undefined : found;
    if (parts) assertFound(parts, query);
    yield Buffer.alloc(0);
    let told = 0;
    const wish = { filter: query, raw: query.raw ?? false, wanted: () => query.limit - told };
    const newestFirst = query.order === 'newest';
    const matcher = new RecordMatcher(query);
    parts?.forEach(({ range, cursor }, number) => {
      const family = families[number] as OpenFamily;
      const task = { shop, family, range, matcher, newestFirst, flag: stop.newFlag(), tally };
      lanes.push(new Lane(familyRecords(task, wish), { newestFirst, cursor }));
    });

    const hasContext = query.before > 0 || query.after > 0;
    let batch: Buffer[] = [];
    while (!stop.reason && told < query.limit) {
      const lane = leadingLane(lanes, newestFirst);
      if (!lane) break;
      const isAlone = !hasContext && lanes.every((other) => other === lane || other.isDone);
      const many = isAlone ? lane.takeMany(query.limit - told) : undefined;
      const lines = many?.lines ?? lane.take();
      if (lines) {
        batch.push(lines);
        told += many?.count ?? 1;
        continue;
      }
      yield* withContext(shop, families, query, { lines: batch, stop });
      batch = [];
      await lane.pull();
    }
    yield* withContext(shop, families, query, { lines: batch, stop });
    const reason = stop.reason ?? (lanes.every(({ isDone }) => isDone) ? 'exhausted' : 'limit');
    const problems = families.flatMap((family) => family.problems);
    const end = endItem(tally, lanes, { reason, told, problems, asked: query.start });
    yield Buffer.from(`${JSON.stringify({ ...end, ...duplicatesOf(families) })}\n`);
  } finally {
    stop.end();
    await Promise.all(lanes.map((lane) => lane.close()));
    for (const family of families) releaseFamily(family);
  }
}

/** A cursor of an answer that ended before it had come anywhere means no place at all. */
function fromBeginning(query: SearchQuery): SearchQuery {
  const { start, ...rest } = query;
  return start && 'cursor' in start && start.cursor === BEGINNING ? rest : query;
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

interface EndFacts {
  reason: SearchEnd['reason'];
  told: number;
  problems: FileProblem[];
  asked: SearchQuery['start'];
}

function endItem(tally: ScanTally, lanes: readonly Lane[], { reason, told, problems, asked }: EndFacts): SearchEnd {
  const cursors = lanes.flatMap(({ cursor }) => (cursor === undefined ? [] : [cursor]));
  // Nothing was covered yet: to go on is to begin where this one did.
  const again = asked && 'cursor' in asked ? asked.cursor : BEGINNING;
  const cursor = reason === 'exhausted' ? null : cursors.length === 0 ? again : cursors.join('~');
  return { type: 'end', ...tally.receipt(reason, told, problems), cursor };
}
