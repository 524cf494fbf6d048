import type { CallOptions, MemberClock, MemberReport, NodeState } from '@porthole/contract';
import { askAll, type MemberAnswer } from '../fan-out/ask-all.ts';
import type { Clocks } from '../fan-out/clock.ts';
import type { Peer, Peers } from '../fan-out/peers.ts';
import type { MemberWords } from './member-words.ts';

/** What was last seen of members; `LastWords` is one. */
export interface KnownWords {
  of(id: string): MemberWords | undefined;
  /** Members that are no longer registered, ordered by id. */
  gone(): readonly MemberWords[];
}

/** What the answers of a cluster are made of. */
export interface StateParts {
  peers: Peers;
  clocks: Clocks;
  lastWords: KnownWords;
  /** The text with its secrets masked; `undefined` where that cannot be done. For nodes that do not mask their own. */
  mask(configText: string): string | undefined;
  /** Of each member, for a whole answer. */
  timeoutMs: number;
  maxParallel: number;
  nowMs(): number;
}

/** A member with its clock against ours; one that was never measured is taken for right. */
export interface AskedMember {
  id: string;
  state: NodeState;
  clock: MemberClock;
}

export interface AskEachOptions<T> extends CallOptions {
  countOf(value: T): number;
}

const RIGHT_CLOCK: MemberClock = { offsetMs: 0, uncertaintyMs: 0 };

/** Asks each with its clock at hand: what is asked, and what it answers, is in its own time. */
export function askEach<T>(
  parts: StateParts,
  peers: readonly Peer[],
  ask: (member: AskedMember, options: CallOptions) => Promise<T>,
  { countOf, signal }: AskEachOptions<T>,
): Promise<MemberAnswer<T>[]> {
  const ids = idsByState(peers);
  const { timeoutMs, maxParallel } = parts;
  return askAll<T>(
    peers,
    (state, options) => {
      const id = ids.get(state) ?? '';
      return ask({ id, state, clock: wholeMs(parts.clocks.of(id) ?? RIGHT_CLOCK) }, options);
    },
    { timeoutMs, maxParallel, countOf, ...(signal !== undefined && { signal }) },
  );
}

function idsByState(peers: readonly Peer[]): Map<NodeState, string> {
  const ids = new Map<NodeState, string>();
  for (const peer of peers) {
    try {
      ids.set(peer.state, peer.member.id);
    } catch {
      // Its address is none: the report will tell.
    }
  }
  return ids;
}

/** Times are asked for in whole milliseconds. */
function wholeMs({ offsetMs, uncertaintyMs }: MemberClock): MemberClock {
  return { offsetMs: Math.round(offsetMs), uncertaintyMs };
}

/** The line of a member of which only the last words are left. */
export function goneReport({ member, asOfMs }: MemberWords, count: number): MemberReport {
  return { id: member.id, outcome: 'gone', detail: 'no longer registered', elapsedMs: 0, count, asOfMs };
}
