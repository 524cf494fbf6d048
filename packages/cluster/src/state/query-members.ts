import type { CallOptions, Member, MemberClock, MemberReport, MemberSelection, NodeState } from '@porthole/contract';
import { isSelected } from '@porthole/contract';
import type { Clocks } from '../fan-out/clock.ts';
import type { SteppedClock } from '../fan-out/clock-steps.ts';
import { fanOut, type MemberResponse } from '../fan-out/fan-out.ts';
import type { Peer, Peers } from '../fan-out/peers.ts';
import type { MemberDirectory } from '../membership/member-directory.ts';
import type { RecordedMember } from '../recorder/recordings.ts';
import { expectFailure } from '../requests/member-failure.ts';
import type { Masked } from '../settings/secrets.ts';

/** The directory of members, and what was recorded of them. */
export interface KnownMembers extends Pick<MemberDirectory, 'of' | 'standingOf'> {
  /** Members that left or failed, ordered by id. */
  departed(): readonly RecordedMember[];
  /** Whether something was recorded of it, or may have been. */
  has(id: string): boolean;
  /** What was recorded of it, here or elsewhere. */
  find(id: string): Promise<RecordedMember | undefined>;
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

/** A member of a response; of one that left or failed there is only what was recorded. */
export interface ChosenMember extends Peer {
  departed?: RecordedMember;
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
  const selected = peers.select(selection, departedIds);
  const selectedIds = new Set(selected.map(({ member }) => member.id));
  const recorded = departed
    .filter(({ member }) => isSelected(member, selection) && !selectedIds.has(member.id))
    .map((each) => ({ member: each.member, state: each.state, departed: each }));
  return [...selected, ...recorded].sort((a, b) => (a.member.id < b.member.id ? -1 : 1));
}

/** A member with its clock; an unmeasured clock is assumed right. */
export interface QueriedMember {
  member: Member;
  state: NodeState;
  clock: SteppedClock;
}

export interface QueryMembersOptions<T> extends CallOptions {
  countOf(value: T): number;
}

type MemberQuery<T> = (member: QueriedMember, options: CallOptions) => Promise<T>;

const EXACT_CLOCK: MemberClock = { offsetMs: 0, uncertaintyMs: 0 };

/**
 * Queries each member with its clock: queries and responses use its own time. Of a member that left, failed or does not
 * respond, what was recorded is used, and the report says so.
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
    ({ member, state, departed }, options) => {
      const known = departed ? departed.clock : clocks.of(member.id);
      return call({ member, state, clock: withSteps(known, clocks.steps?.(member.id)) }, options);
    },
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
      const recorded = needsRecording(report) ? await directory.find(report.id) : undefined;
      const fallback = recorded && (await queryRecorded(recorded, call));
      if (fallback === undefined) return { peer, value, report: { ...report, ...standing } };
      const facts = { ...report, ...standing, count: countOf(fallback) };
      return { peer, value: fallback, report: recordedReport(facts, recorded as RecordedMember) };
    }),
  );
}

/** A member that lacks an operation is not replaced by what was recorded of it; one that fails is. */
export function needsRecording({ outcome }: MemberReport): boolean {
  return outcome !== 'ok' && outcome !== 'not supported';
}

/** `undefined` if the recording does not have the data. */
async function queryRecorded<T>(recorded: RecordedMember, call: MemberQuery<T>): Promise<T | undefined> {
  const { member, clock, state } = recorded;
  try {
    return await call({ member, state, clock: roundClock(clock) }, {});
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
export function departedReport(recorded: RecordedMember, count: number): MemberReport {
  const { member, asOfMs, departed } = recorded;
  const { state, sinceMs } = departed ?? { state: 'failed', sinceMs: asOfMs };
  const since = new Date(sinceMs).toISOString();
  const facts = { id: member.id, elapsedMs: 0, count, asOfMs, state, sinceMs };
  const isLeft = state === 'left';
  const detail = isLeft ? `left the cluster at ${since}` : `not registered since ${since}`;
  return recordedReport({ ...facts, outcome: isLeft ? 'left' : 'gone', detail }, recorded);
}

/** The report of a member that does not respond, with what is shown in its place. */
export function recordedReport(report: MemberReport, recorded: RecordedMember): MemberReport {
  const { asOfMs, recordedBy, missingMs, label } = recorded;
  const detail = report.detail === null ? label : `${report.detail}; ${label}`;
  return {
    ...report,
    detail,
    asOfMs,
    ...(recordedBy !== null && { recordedBy }),
    ...(missingMs !== null && { missingMs }),
    // One that has said goodbye is not missed, if its records were recorded to the end.
    ...(missingMs !== 0 && (report.outcome !== 'left' || recordedBy !== null) && { isPartial: true }),
  };
}
