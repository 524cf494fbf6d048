import { type ClusterTop, type MemberSelection, mergeTop, type TopSource } from '@porthole/contract';
import { canonicalField, resolveField } from '@porthole/logs/query';
import type { TopQuery, TopValue } from '@porthole/logs/types';
import { type ArchiveOptions, type AskDeps, prepareQuestion } from '../question.ts';
import { NodeTally } from '../reports.ts';
import { chooseWidth, countWindows } from './count-windows.ts';
import { addCells, EngineValues } from './engine-values.ts';
import { SqlValues, toShown } from './sql-values.ts';
import { planTop } from './top-plan.ts';

/** Desired buckets if only a width is requested. */
const DEFAULT_BUCKETS = 100;

/** Buckets of a response, of all values together. */
const MAX_BUCKETS_OF_ALL = 100_000;

/** Counts of archived records by value of a field: in SQL where it can read the field, by the engine elsewhere. */
export async function archiveTop(
  deps: AskDeps,
  request: TopQuery & MemberSelection,
  options: ArchiveOptions = {},
): Promise<ClusterTop> {
  const question = await prepareQuestion(deps, request, options);
  const { by, limit, values, buckets, bucketMs: width } = request;
  const shown = Math.max(1, Math.min(limit, values?.length ?? limit));
  const maxBuckets = Math.max(1, Math.floor(MAX_BUCKETS_OF_ALL / shown));
  const bucketMs =
    buckets === undefined && width === undefined
      ? undefined
      : await chooseWidth(question, { ...request, buckets: buckets ?? DEFAULT_BUCKETS, maxBuckets });
  const tally = new NodeTally();
  const { bySql, byEngine } = planTop(question, by);
  const wanted = values && new Set(values.map(toShown));
  const inSql = bySql && new SqlValues(question, bySql, wanted);
  const inEngine =
    byEngine === undefined ? undefined : new EngineValues(question, { ref: resolveField(by), wanted, bucketMs });
  const counted = await countWindows(question, options, async (isInside) => {
    await inSql?.count(isInside);
    if (byEngine !== undefined) await inEngine?.count(isInside, { where: byEngine, tally });
  });
  const areGiven = values !== undefined;
  const tops = joinTops([...(inSql?.tops() ?? []), ...(inEngine?.tops() ?? [])], areGiven);
  for (const { id, top } of tops)
    tally.add(
      id,
      top.values.reduce((sum, { count }) => sum + count, top.others + top.missing),
    );
  const merged = mergeTop(tops, { limit, areGiven });
  const names = merged.values.map(({ value }) => value);
  const cells = bucketMs === undefined ? undefined : await inSql?.cells(names, bucketMs);
  const more = bucketMs === undefined ? undefined : inEngine?.cells(names);
  const bucketsOf = (value: string): Pick<TopValue, 'buckets'> => {
    if (bucketMs === undefined) return {};
    const none = new Map<number, number>();
    const sum = addCells(cells ? cells.get(value) : none, more?.has(value) ? more.get(value) : none);
    if (!sum) return {};
    const inOrder = [...sum].sort(([a], [b]) => a - b);
    return { buckets: inOrder.map(([index, count]) => ({ startMs: index * bucketMs, count })) };
  };
  return {
    by: canonicalField(by),
    ...merged,
    values: merged.values.map((value) => ({ ...value, ...bucketsOf(value.value) })),
    ...(bucketMs !== undefined && { bucketMs }),
    counted,
    members: tally.reports(question, counted),
  };
}

/** A node of which SQL has counted some rows and the engine others is one source. */
function joinTops(tops: readonly TopSource[], areGiven: boolean): TopSource[] {
  const byId = new Map<string, TopSource>();
  for (const { id, top } of tops) {
    const known = byId.get(id)?.top;
    byId.set(id, { id, top: ranked(known ? addTops([known, top], areGiven) : top) });
  }
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function addTops(parts: readonly TopSource['top'][], areGiven: boolean): TopSource['top'] {
  const sources = parts.map((top, index) => ({ id: String(index), top }));
  const merged = mergeTop(sources, { limit: Infinity, areGiven });
  return { ...merged, values: merged.values.map(({ nodes: _nodes, ...value }) => value) };
}

function ranked(top: TopSource['top']): TopSource['top'] {
  return { ...top, values: top.values.toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1)) };
}
