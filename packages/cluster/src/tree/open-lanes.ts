import type { CallOptions, SearchOptions } from '@porthole/contract';
import { type ClusterDeps, getLimits } from '../records/cluster-deps.ts';
import type { BookOptions, QueriedLane } from '../records/merge/lane-book.ts';
import { type LaneOptions, MemberLane } from '../records/merge/member-lane.ts';
import type { MergeLane } from '../records/merge/merge-by-time.ts';
import type { ChosenMember } from '../state/choose-members.ts';
import type { GroupSearchMember } from './group-search.ts';
import type { GroupedLane } from './grouped-lane.ts';
import { openGroup } from './open-groups.ts';

/** A member to search: how to open it, and what to request for it from a helper. */
export interface LaneSpec {
  chosen: ChosenMember;
  book: BookOptions;
  /** `isSilent`: only its snapshot. */
  open(options: { isSilent: boolean }, lane: () => MemberLane): Pick<LaneOptions, 'open' | 'instead'>;
  /** What a helper is asked for: after what was emitted, if there is something. */
  request(lane: GroupedLane, options: CallOptions): Promise<Pick<GroupSearchMember, 'query' | 'silentMs'>>;
  /** Whether a helper can search it. */
  isGroupable: boolean;
  /** Whether its search can begin after a record. */
  isResumable: boolean;
}

export interface LaneTimes extends Pick<Required<SearchOptions>, 'budgetMs'> {
  newestFirst: boolean;
  limit: number;
  timeoutMs: number;
  /** Whether records that need not be parsed stay lines. */
  asLines: boolean;
  /** Of the first page of each member; `undefined`: there is only one. */
  pageRecords?: number | undefined;
}

/** The lanes of a merge, and for each member, in the given order, the one that knows about it. */
export function openLanes(
  deps: ClusterDeps,
  specs: readonly LaneSpec[],
  times: LaneTimes,
): { lanes: MergeLane[]; lanesOf: (() => QueriedLane)[] } {
  const { firstBatchMs, maxParallel } = getLimits(deps);
  const { timeoutMs } = times;
  const openDirectly = ({ book, open }: LaneSpec, isSilent = false): MemberLane => {
    const lane: MemberLane = new MemberLane({ ...book, timeoutMs, ...open({ isSilent }, () => lane) });
    return lane;
  };
  const byPeer = new Map(specs.map((spec) => [spec.chosen, spec]));
  const grouped = new Map<LaneSpec, GroupedLane>();
  const lanes: MergeLane[] = [];
  const groupable = specs.filter(({ isGroupable }) => isGroupable);
  const { tree, peers } = deps;
  for (const group of tree?.groupsOf(groupable.map(({ chosen }) => chosen)) ?? []) {
    const members = group.map((peer) => byPeer.get(peer) as LaneSpec).sort((a, b) => a.book.index - b.book.index);
    const opened = openGroup(
      { ...tree?.searching({ timeoutMs: getLimits(deps).memberTimeoutMs }), peers, maxParallel } as GroupDeps,
      members.map((spec) => ({
        peer: spec.chosen,
        book: spec.book,
        isResumable: spec.isResumable,
        request: (lane: GroupedLane, options: CallOptions) => spec.request(lane, options),
        openInstead: ({ isSilent }: { isSilent: boolean }) => openDirectly(spec, isSilent),
      })),
      { ...times, firstBatchMs },
    );
    lanes.push(opened.lane);
    for (const [index, spec] of members.entries()) grouped.set(spec, opened.lanes[index] as GroupedLane);
  }
  const lanesOf = specs.map((spec): (() => QueriedLane) => {
    const lane = grouped.get(spec);
    if (lane) return () => lane.instead ?? lane;
    const own = openDirectly(spec);
    lanes.push(own);
    return () => own;
  });
  return { lanes, lanesOf };
}

type GroupDeps = Parameters<typeof openGroup>[0];
