import { type CallOptions, codeOf, LogSources, type NodeState, PortholeError } from '@porthole/contract';
import { decodeCursor } from '@porthole/logs';
import type { SearchQuery } from '@porthole/logs/types';
import { joinCursors, splitCursors } from '@porthole/records';
import type { Peer } from '../../fan-out/peers.ts';
import type { QueriedLane } from '../merge/member-lane.ts';
import { isReplaced, type MemberPosition, type ReplacedPosition } from './cluster-cursor.ts';
import type { Filling } from './fill-gap.ts';

/** The query of a member and its start position. */
export interface QueriedMember {
  readonly lane: QueriedLane;
  peer: Peer;
  query: SearchQuery;
  began: MemberPosition;
  /** How far the gap in its position is filled, if there is one. */
  filling: Filling;
}

/**
 * Where to resume on a member so that nothing is lost or repeated, although some of its records were not emitted. A position in
 * several logs is the last emitted record of each, and the start of the log for those without one. May query the member for
 * that, or what was recorded of it; throws if it does not respond.
 */
export async function resumePosition(member: QueriedMember, options: CallOptions): Promise<MemberPosition> {
  const known = knownPosition(member);
  if (known !== undefined) return known;
  const { lane, peer, query, began } = member;
  const delivered = lane.deliveredCursors;
  const state = () => {
    // It failed already; do not wait for another timeout.
    if (lane.problem !== undefined) throw new PortholeError('UNREACHABLE', 'the member failed before');
    return (lane.recorded ?? peer).state;
  };
  const first = await startMarks(began, { state, query }, options);
  const files = new Set([...delivered.keys(), ...first.keys()]);
  // A recording knows the logs of its files.
  const isNamed = files.size > 1 && lane.recorded === undefined;
  const families = isNamed ? await familiesByFile(state(), options) : new Map<string, string>();
  const marks = new Map<string, string>();
  for (const [file, mark] of [...first, ...delivered]) marks.set(families.get(file) ?? file, mark);
  return { cursor: joinCursors(marks.values()) };
}

/** The same, where the member need not be asked for it: `undefined` if it must. */
export function knownPosition({
  lane,
  query,
  began,
}: Pick<QueriedMember, 'lane' | 'query' | 'began'>): MemberPosition | undefined {
  const { end, recorded } = lane;
  if (end && !lane.hasNext && end.cursor !== null) return { cursor: end.cursor };
  // The end of a recording is not that of the member, which may be back for the next page.
  if (end && !lane.hasNext && !recorded) return 'done';
  const delivered = lane.deliveredCursors;
  const last = [...delivered.values()].at(-1);
  if (last === undefined) return began;
  const isOneLog = new LogSources(query.src).only !== undefined;
  return isOneLog || (typeof began === 'string' && delivered.size === 1) ? { cursor: last } : undefined;
}

/** Where to resume after a page of a recording: there, and in the member itself. */
export function replacedPosition(
  { lane: { firstCursors }, began }: Pick<QueriedMember, 'lane' | 'began'>,
  cursor: string,
): ReplacedPosition {
  const { from, until } = isReplaced(began) ? began : { from: began, until: '' };
  const firsts = marksByFile(until);
  for (const [file, mark] of firstCursors) if (!firsts.has(file)) firsts.set(file, mark);
  return { cursor, from, until: joinCursors(firsts.values()) };
}

export interface GapEnds {
  until: string;
  behind: { cursor: string };
}

/**
 * Where a gap ends in each log, and where the member continues behind it: in logs of which its recording was shown, behind
 * that, and in the others where it was itself.
 */
export async function gapEnds(
  { cursor, from, until: firstCursors }: ReplacedPosition,
  edge: EdgeQuery,
  options: CallOptions,
): Promise<GapEnds> {
  const own = await startMarks(from, edge, options);
  const firsts = marksByFile(firstCursors);
  const shown = marksByFile(cursor);
  const files = new Set([...own.keys(), ...firsts.keys(), ...shown.keys()]);
  const families = files.size > 1 ? await familiesByFile(edge.state(), options) : new Map<string, string>();
  const familyOf = (file: string) => families.get(file) ?? file;
  const until = new Map<string, string>();
  // The first one of a log counts.
  for (const [file, mark] of [...firsts].reverse()) until.set(familyOf(file), mark);
  const behind = new Map<string, string>();
  for (const [file, mark] of own) behind.set(familyOf(file), mark);
  for (const [file, mark] of shown) if (until.has(familyOf(file))) behind.set(familyOf(file), mark);
  return { until: joinCursors(until.values()), behind: { cursor: joinCursors(behind.values()) } };
}

export interface EdgeQuery {
  state(): NodeState;
  query: SearchQuery;
}

/** The start positions of its logs, by file. */
async function startMarks(
  began: MemberPosition,
  { state, query }: EdgeQuery,
  options: CallOptions,
): Promise<Map<string, string>> {
  if (typeof began === 'string') return new Map();
  return marksByFile('cursor' in began ? began.cursor : await fetchEdgeCursor(state(), query, options));
}

function marksByFile(cursor = ''): Map<string, string> {
  const marks = new Map<string, string>();
  for (const mark of splitCursors(cursor)) {
    const file = cursorFile(mark);
    if (file !== undefined) marks.set(file, mark);
  }
  return marks;
}

/** The end of a search that started at a time has the position of that time in every log it did not reach. */
async function fetchEdgeCursor(
  state: NodeState,
  query: SearchQuery,
  options: CallOptions,
): Promise<string | undefined> {
  for await (const item of state.search({ ...query, limit: 1, before: 0, after: 0 }, options))
    if (item.type === 'end') return item.cursor ?? undefined;
  return undefined;
}

/** `undefined` if it names no record: the cursor of a search that made no progress. */
function cursorFile(mark: string): string | undefined {
  try {
    return decodeCursor(mark)[0]?.file;
  } catch (error) {
    if (codeOf(error) !== 'CURSOR_INVALID') throw error;
    return undefined;
  }
}

async function familiesByFile(state: NodeState, options: CallOptions): Promise<Map<string, string>> {
  const files = await state.logFiles(options);
  return new Map(files.map(({ name, family }) => [name, family]));
}
