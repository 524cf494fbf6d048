import type { CallOptions, MemberClock, MemberReport, MemberSelection, NodeState } from '@porthole/contract';
import { isSelected } from '@porthole/contract';
import type { Clocks } from '../fan-out/clock.ts';
import type { SteppedClock } from '../fan-out/clock-steps.ts';
import { fanOut, type MemberResponse } from '../fan-out/fan-out.ts';
import type { MatchRegex, Peer, Peers } from '../fan-out/peers.ts';
import type { MemberDirectory } from '../membership/member-directory.ts';
import type { MemberSnapshot } from '../membership/snapshots/member-snapshot.ts';
import { expectFailure } from '../requests/member-failure.ts';
import type { Masked } from '../settings/secrets.ts';
import { SnapshotNode } from './snapshots/snapshot-node.ts';

/** The directory of members and their snapshots. */
export interface KnownMembers extends Pick<MemberDirectory, 'of' | 'has' | 'departed' | 'standingOf'> {
  /** The snapshot of a member, here or elsewhere; absent: it is here or nowhere. */
  find?(id: string): Promise<MemberSnapshot | undefined>;
}

/** What cluster operations need. */
export interface StateDeps {
  peers: Peers;
  clocks: Clocks;
  directory: KnownMembers;
  /** Masks a configuration; `undefined` if that is not possible. For nodes that do not mask their own. */
  mask(configText: string): Masked;
  /** Per member, for a whole response. */
  timeoutMs: number;
  maxParallel: number;
  nowMs(): number;
}

/** A member of a response; one that left or failed has only its snapshot. */
export interface ChosenMember extends Peer {
  departed?: MemberSnapshot;
}

/**
 * The members a request selects, ordered by id: those to query, and those that left or failed. Every operation calls this once.
 * Throws MEMBER_NOT_FOUND for an unknown id.
 */
export function chooseMembers(
  { peers, directory }: Pick<StateDeps, 'peers' | 'directory'>,
  selection: MemberSelection = {},
): readonly ChosenMember[] {
  const departed = directory.departed();
  const departedIds = new Set(departed.map(({ member }) => member.id));
  const nodes = selection.nodes?.filter((name) => !departedIds.has(name));
  const selected = peers.select({ ...selection, ...(nodes && { nodes }) });
  const selectedIds = new Set(selected.map(({ member }) => member.id));
  const snapshots = departed
    .filter(({ member }) => isSelected(member, selection) && !selectedIds.has(member.id))
    .map((snapshot) => ({
      member: snapshot.member,
      state: new SnapshotNode(snapshot, peers.matchRegex),
      departed: snapshot,
    }));
  return [...selected, ...snapshots].sort((a, b) => (a.member.id < b.member.id ? -1 : 1));
}

/** A member with its clock; an unmeasured clock is assumed right. */
export interface QueriedMember {
  id: string;
  state: NodeState;
  clock: SteppedClock;
}

export interface QueryMembersOptions<T> extends CallOptions {
  countOf(value: T): number;
}

type MemberQuery<T> = (member: QueriedMember, options: CallOptions) => Promise<T>;

const EXACT_CLOCK: MemberClock = { offsetMs: 0, uncertaintyMs: 0 };

/**
 * Queries each member with its clock: queries and responses use its own time. For a member that left, failed or does not
 * respond, its snapshot is used, and the report has its age.
 */
export async function queryMembers<T>(
  deps: StateDeps,
  chosen: readonly ChosenMember[],
  call: MemberQuery<T>,
  { countOf, signal }: QueryMembersOptions<T>,
): Promise<MemberResponse<T>[]> {
  const { timeoutMs, maxParallel, directory, clocks } = deps;
  const responses = await fanOut<T, ChosenMember>(
    chosen,
    ({ member: { id }, state, departed }, options) =>
      call({ id, state, clock: withSteps(departed ? departed.clock : clocks.of(id), clocks.steps?.(id)) }, options),
    {
      timeoutMs,
      maxParallel,
      countOf,
      responses: deps.peers.responses,
      ...(signal !== undefined && { signal }),
    },
  );
  return Promise.all(
    responses.map(async ({ peer, value, report }) => {
      const { departed } = peer;
      if (departed) return { peer, value, report: departedReport(departed, report.count) };
      const standing = directory.standingOf(report.id, report.outcome);
      const snapshot = needsSnapshot(report) ? await findSnapshot(directory, report.id) : undefined;
      const fallback = snapshot && (await querySnapshot(snapshot, { call, matchRegex: deps.peers.matchRegex }));
      if (fallback === undefined) return { peer, value, report: { ...report, ...standing } };
      const { asOfMs } = snapshot as MemberSnapshot;
      return { peer, value: fallback, report: { ...report, ...standing, count: countOf(fallback), asOfMs } };
    }),
  );
}

/** The snapshot of a member, wherever it is kept. */
export async function findSnapshot(directory: KnownMembers, id: string): Promise<MemberSnapshot | undefined> {
  return directory.find ? directory.find(id) : directory.of(id);
}

/** A member that lacks an operation is not replaced by its snapshot; one that fails is. */
function needsSnapshot({ outcome }: MemberReport): boolean {
  return outcome !== 'ok' && outcome !== 'not supported';
}

/** `undefined` if the snapshot does not have the data. */
async function querySnapshot<T>(
  snapshot: MemberSnapshot,
  { call, matchRegex }: { call: MemberQuery<T>; matchRegex: MatchRegex | undefined },
): Promise<T | undefined> {
  const { member, clock } = snapshot;
  try {
    return await call({ id: member.id, state: new SnapshotNode(snapshot, matchRegex), clock: roundClock(clock) }, {});
  } catch (error) {
    expectFailure(error);
    return undefined; // the report has the failure of the member itself
  }
}

/** What a query of a member passes on of the options of its call. */
export function toCall({ signal }: CallOptions): CallOptions {
  return signal ? { signal } : {};
}

function withSteps(clock: MemberClock | null | undefined, steps: SteppedClock['steps']): SteppedClock {
  return { ...roundClock(clock), steps };
}

/** Queries use whole milliseconds. */
export function roundClock(clock: MemberClock | null | undefined): MemberClock {
  const { offsetMs, uncertaintyMs } = clock ?? EXACT_CLOCK;
  return { offsetMs: Math.round(offsetMs), uncertaintyMs };
}

/** The report of a departed member. */
export function departedReport({ member, asOfMs, departed }: MemberSnapshot, count: number): MemberReport {
  const { state, sinceMs } = departed ?? { state: 'failed', sinceMs: asOfMs };
  const since = new Date(sinceMs).toISOString();
  const facts = { id: member.id, elapsedMs: 0, count, asOfMs, state, sinceMs };
  if (state === 'left') return { ...facts, outcome: 'left', detail: `left the cluster at ${since}` };
  return { ...facts, outcome: 'gone', detail: `not registered since ${since}` };
}
