import type { CallOptions, SearchOptions } from '@porthole/contract';
import { LineKernel } from '@porthole/logs';
import type { FoundRecord, SearchEnd, SearchQuery } from '@porthole/logs/types';
import type { Peers } from '../fan-out/peers.ts';
import { MemberLane } from '../records/merge/member-lane.ts';
import { type LaneItems, searchInPages } from '../records/merge/member-pages.ts';
import { mergeByTime } from '../records/merge/merge-by-time.ts';
import { type LineRecord, lineItems, type MergedRecords } from '../records/merge/record-lines.ts';
import { isLogMissing } from '../records/refusals.ts';
import { readUnlessSilent } from '../records/search/open-or-snapshot.ts';
import { type AroundQuery, recordsAround } from '../records/search/records-around.ts';
import { stripClusterFields } from '../records/to-cluster-record.ts';

/** A member of a searched group. Its query is by its own clock. */
export interface GroupSearchMember {
  id: string;
  /** Of its clock, as the asking node corrects it. */
  offsetMs: number;
  query: { search: SearchQuery } | { around: AroundQuery };
  /** The key of the last record of an earlier page: later ones have no smaller one. */
  reachedKey?: number | undefined;
  /** If there is something to show instead: how long to wait for its first records. */
  silentMs?: number | undefined;
}

/** A search of some members, in the order that decides between records of the same time. */
export interface GroupSearch {
  members: readonly GroupSearchMember[];
  newestFirst: boolean;
  /** Maximum number of records of all together. */
  limit: number;
  budgetMs: number;
  firstBatchMs: number;
  timeoutMs: number;
  /** Of the first page of each member; `undefined`: there is only one. */
  pageRecords?: number | undefined;
}

/** What became of a member. `direct`: only the asking node may ask it, or can. */
export type MemberProgress = { member: number } & (
  | { is: 'answered' | 'late' | 'silent' }
  /** `problem`: why; not sent to other nodes. */
  | { is: 'direct'; problem?: unknown }
  /** Of the pages that the helper has; more will come. */
  | { is: 'page'; end: SearchEnd; edgeMs: number | null }
  /** `sent`: how many records it has in this search. `edgeMs`: by its clock, of those it has not yet in the stream. */
  | { is: 'end'; end: SearchEnd; sent: number; edgeMs: number | null }
  | { is: 'failed'; problem: unknown }
);

/** The next part of a group: first what became of members, then records with the number of their member. */
export interface GroupBatch {
  progress: MemberProgress[];
  members: number[];
  records: (FoundRecord | LineRecord)[];
}

export interface GroupSearchDeps {
  peers: Pick<Peers, 'get' | 'lineKernel'>;
  maxParallel: number;
}

/** Its first records took too long, and there is something to show instead. */
class MemberSilent extends Error {
  readonly code = 'DEADLINE_EXCEEDED';
}

/** `isHelper`: for another node, which masks what its contract-only members send. */
type SearchGroupOptions = CallOptions & { isHelper: boolean };

/** Searches the members of a group and merges their records. Rejects only if the signal aborts. */
export async function* searchGroup(
  { peers, maxParallel }: GroupSearchDeps,
  { members, newestFirst, limit, pageRecords, ...times }: GroupSearch,
  { signal, isHelper }: SearchGroupOptions,
): AsyncGenerator<GroupBatch, void, undefined> {
  const { firstBatchMs, timeoutMs, budgetMs } = times;
  const lanes = members.map((member, index) => {
    const clock = { offsetMs: member.offsetMs, uncertaintyMs: 0 };
    const open = (leaving: AbortSignal) =>
      openMember(peers, member, { signal: leaving, budgetMs, isHelper, pageRecords });
    const reached = member.reachedKey === undefined ? undefined : { key: member.reachedKey, count: 0 };
    return new MemberLane({ index, id: member.id, clock, newestFirst, firstBatchMs, timeoutMs, reached, open });
  });
  const places = new Map(members.map(({ id }, index) => [id, index]));
  const tracker = new ProgressTracker(lanes, { newestFirst, members });
  for await (const merged of mergeByTime(lanes, { limit, maxParallel, ...(signal && { signal }) })) {
    const batch: GroupBatch = { progress: tracker.changes(), members: [], records: [] };
    for (const each of merged) {
      for (const record of ownRecords(each)) {
        batch.members.push(places.get(each.node) as number);
        batch.records.push(record);
      }
    }
    yield batch;
  }
  yield { progress: tracker.changes(), members: [], records: [] };
}

function ownRecords(merged: MergedRecords): (FoundRecord | LineRecord)[] {
  return merged.type === 'lines' ? merged.lines.records() : [stripClusterFields(merged)];
}

/** Recognizes lines; one for all of them where there is one. */
export function kernelOf(peers: Pick<Peers, 'lineKernel'>): LineKernel {
  return peers.lineKernel?.() ?? new LineKernel();
}

interface OpenOptions extends Pick<GroupSearch, 'pageRecords' | 'budgetMs'> {
  signal: AbortSignal;
  isHelper: boolean;
}

async function* openMember(
  peers: GroupSearchDeps['peers'],
  { id, query, silentMs }: GroupSearchMember,
  { isHelper, pageRecords, ...options }: OpenOptions,
): AsyncGenerator<LaneItems, void, undefined> {
  const peer = peers.get(id);
  const { state, transport } = peer;
  // This node has no transport, and masks its own text.
  if (isHelper && transport && !(await transport.isPorthole(options))) throw new Error('its text is not masked');
  const items = (signal: AbortSignal): AsyncIterable<LaneItems> => {
    const own = { ...options, signal };
    const search = (part: SearchQuery, limits: SearchOptions = {}) =>
      lineItems(state.searchLogLines(part, { ...own, ...limits }), kernelOf(peers));
    if ('around' in query) return recordsAround(state, query.around, own);
    if (pageRecords === undefined) return search(query.search);
    return searchInPages(search, { query: query.search, peer, pageRecords, ...own });
  };
  if (silentMs === undefined) return yield* items(options.signal);
  let hasRecords = false;
  try {
    for await (const batch of readUnlessSilent(items, { ...options, timeoutMs: silentMs })) {
      hasRecords ||= batch.length > 0;
      yield batch;
    }
  } catch (error) {
    const isSilent = !hasRecords && (error as { code?: unknown } | undefined)?.code === 'DEADLINE_EXCEEDED';
    throw isSilent ? new MemberSilent('no records in time', { cause: error }) : error;
  }
}

/** What has become of the members since the last batch. */
class ProgressTracker {
  readonly #lanes: readonly MemberLane[];
  readonly #options: Pick<GroupSearch, 'members' | 'newestFirst'>;
  readonly #said: Set<MemberProgress['is']>[];
  /** The ends of pages that were said last. */
  readonly #pages = new Map<number, SearchEnd>();

  constructor(lanes: readonly MemberLane[], options: Pick<GroupSearch, 'members' | 'newestFirst'>) {
    this.#lanes = lanes;
    this.#options = options;
    this.#said = lanes.map(() => new Set());
  }

  changes(): MemberProgress[] {
    return this.#lanes.flatMap((lane, member) => {
      const said = this.#said[member] as Set<MemberProgress['is']>;
      if (said.has('end') || said.has('failed') || said.has('direct') || said.has('silent')) return [];
      return this.#progress(lane, member).filter(({ is }) => is === 'page' || (!said.has(is) && said.add(is)));
    });
  }

  #progress(lane: MemberLane, member: number): MemberProgress[] {
    const changes: MemberProgress[] = [];
    if (lane.hasAnswered) changes.push({ member, is: 'answered' });
    if (lane.isLate) changes.push({ member, is: 'late' });
    if (lane.problem !== undefined) changes.push(this.#failure(lane, member));
    else if (lane.end) {
      const sent = lane.delivered + lane.waiting;
      changes.push({ member, is: 'end', end: lane.end, sent, edgeMs: this.#edge(lane, member) });
    } else if (lane.lastEnd && this.#pages.get(member) !== lane.lastEnd) {
      this.#pages.set(member, lane.lastEnd);
      changes.push({ member, is: 'page', end: lane.lastEnd, edgeMs: this.#edge(lane, member) });
    }
    return changes;
  }

  /** What failed before it sent anything is left to the asking node, whose own request says what is wrong. */
  #failure({ problem, hasAnswered, isLate }: MemberLane, member: number): MemberProgress {
    if (problem instanceof MemberSilent) return { member, is: 'silent' };
    if (hasAnswered || isLate || isLogMissing(problem)) return { member, is: 'failed', problem };
    return { member, is: 'direct', problem };
  }

  /** Only of records out of order: otherwise the position in the stream says it. */
  #edge(lane: MemberLane, member: number): number | null {
    const times = lane.undeliveredTimes();
    const { newestFirst, members } = this.#options;
    const reachedMs = newestFirst ? -lane.key : lane.key;
    const isOrdered = times.every((time, index) => {
      const before = times[index - 1] ?? (Number.isFinite(reachedMs) ? reachedMs : time);
      return newestFirst ? time <= before : time >= before;
    });
    if (isOrdered) return null;
    const edgeMs = times.reduce((a, b) => (newestFirst ? Math.max(a, b) : Math.min(a, b)));
    return edgeMs + (members[member]?.offsetMs ?? 0);
  }
}
