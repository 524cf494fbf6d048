import { type CallOptions, errorMessage, PortholeError } from '@porthole/contract';
import type { LineKernel } from '@porthole/logs';
import { withDeadline } from '../fan-out/bounded-calls.ts';
import type { Peer, Peers } from '../fan-out/peers.ts';
import type { BookOptions } from '../records/merge/lane-book.ts';
import type { MemberLane } from '../records/merge/member-lane.ts';
import { groupPage, nextPage } from '../records/merge/member-pages.ts';
import { askHelper, HelperFailure } from './ask-helper.ts';
import type { Frame } from './frames.ts';
import { BatchReader, encodeGroupSearch } from './group-codec.ts';
import { type GroupAttempt, GroupLane, MemberLost } from './group-lane.ts';
import { type GroupBatch, type GroupSearch, type GroupSearchMember, kernelOf, searchGroup } from './group-search.ts';
import { GroupedLane } from './grouped-lane.ts';
import type { Helpers } from './helpers.ts';
import type { MemberTransport } from './member-transport.ts';

/** Fewer members than this are searched directly. */
const MIN_GROUPED = 3;

/** A member of a group, and how the asking node would search it. */
export interface GroupedMember {
  peer: Peer;
  book: BookOptions;
  /** Its search, after what was emitted if there is something; `undefined` where that cannot be said. */
  request(lane: GroupedLane, options: CallOptions): Promise<Omit<GroupSearchMember, 'id' | 'offsetMs'>>;
  /** Whether its search can begin after a record. */
  isResumable: boolean;
  /** Opens it directly; `isSilent`: its snapshot. */
  openInstead(options: { isSilent: boolean }): MemberLane;
}

export interface GroupsDeps {
  helpers: Helpers;
  silentMs: number;
  peers: Pick<Peers, 'get' | 'lineKernel'>;
  maxParallel: number;
}

export type GroupTimes = Omit<GroupSearch, 'members'>;

/** A group as one lane of the merge, and its members for the response. */
export function openGroup(
  deps: GroupsDeps,
  members: readonly GroupedMember[],
  times: GroupTimes & { asLines: boolean },
): { lane: GroupLane; lanes: GroupedLane[] } {
  const byLane = new Map<GroupedLane, GroupedMember>();
  const lanes = members.map((member) => {
    const lane = new GroupedLane(member.book, { group: () => group, isResumable: member.isResumable });
    byLane.set(lane, member);
    return lane;
  });
  const memberOf = (lane: GroupedLane) => byLane.get(lane) as GroupedMember;
  const { newestFirst, asLines } = times;
  const group: GroupLane = new GroupLane({
    lanes,
    newestFirst,
    asLines,
    // Each attempt has this time; a helper reports members that exceed it.
    timeoutMs: times.timeoutMs + times.firstBatchMs + 2 * deps.silentMs,
    attempts: () => attemptGroup(deps, { lanes, memberOf, times }),
    openInstead: (lane, options) => memberOf(lane).openInstead(options),
  });
  return { lane: group, lanes };
}

interface GroupParts {
  lanes: readonly GroupedLane[];
  memberOf(lane: GroupedLane): GroupedMember;
  times: GroupTimes;
}

/** Through helpers, one after the other, and finally directly. */
async function* attemptGroup(
  deps: GroupsDeps,
  { lanes: all, memberOf, times }: GroupParts,
): AsyncGenerator<GroupAttempt, void, undefined> {
  const { helpers, silentMs } = deps;
  const { timeoutMs } = times;
  const attempts = [...helpers.choose(all.map((lane) => memberOf(lane).peer)), undefined];
  let limit = groupPage(times, all.length);
  for (let at = 0; at < attempts.length; ) {
    const helper = attempts[at];
    const members: GroupSearchMember[] = [];
    const lanes: GroupedLane[] = [];
    await Promise.all(
      all
        .filter((lane) => !lane.isFinished)
        .map(async (lane) => {
          const { book, request } = memberOf(lane);
          const asking = (signal: AbortSignal) => request(lane, { signal });
          try {
            // Only what was emitted may have to be asked for.
            const isNew = lane.delivered === 0;
            const own = isNew ? await request(lane, {}) : await withDeadline(asking, { timeoutMs });
            const key = lane.takenKey;
            const reached = Number.isFinite(key) ? { reachedKey: key } : {};
            members.push({ id: lane.id, offsetMs: book.clock.offsetMs, ...reached, ...own });
            lanes.push(lane);
          } catch (error) {
            const message = `its helper failed, and so did it: ${errorMessage(error)}`;
            lane.fail(new PortholeError('UNREACHABLE', message, { cause: error }));
          }
        }),
    );
    if (lanes.length === 0) return;
    // In the order that decides between records of the same time.
    const order = lanes.map((lane, place) => ({ lane, place })).sort((a, b) => a.lane.index - b.lane.index);
    const asked = order.map(({ place }) => members[place] as GroupSearchMember);
    const search: GroupSearch = { ...times, limit, members: asked };
    const isRelayed = helper?.transport !== undefined && lanes.length >= MIN_GROUPED;
    yield {
      lanes: order.map(({ lane }) => lane),
      limit: limit < times.limit ? limit : Infinity,
      goOn() {
        limit = Math.min(times.limit, nextPage(limit));
      },
      open: ({ signal }) =>
        isRelayed && helper.transport
          ? searchThrough(helper.transport, search, { signal, silentMs, kernel: kernelOf(deps.peers) })
          : searchGroup(deps, search, { signal, isHelper: false }),
      isDirect: !isRelayed,
      isReplaced(error) {
        if (error instanceof MemberLost) {
          at = attempts.length - 1;
          return true;
        }
        if (!(error instanceof HelperFailure) || !helper) return false;
        helpers.avoid(helper.member.id, error);
        at++;
        return true;
      },
    };
  }
}

async function* searchThrough(
  transport: MemberTransport,
  search: GroupSearch,
  { kernel, ...options }: { signal: AbortSignal; silentMs: number; kernel: LineKernel },
): AsyncGenerator<GroupBatch, void, undefined> {
  const reader = new BatchReader(search.members.length, kernel);
  for await (const frames of askHelper(transport, encodeGroupSearch(search), options)) {
    // One by one: the first records of all groups are needed before the next of any.
    for (const frame of frames) {
      const batch = readBatch(reader, frame);
      if (batch) yield batch;
    }
  }
}

function readBatch(reader: BatchReader, frame: Frame): GroupBatch | undefined {
  try {
    return reader.read(frame);
  } catch (error) {
    throw new HelperFailure(error);
  }
}
