import { type CallOptions, type NodeState, PortholeError } from '@porthole/contract';
import { decodeCursor } from '@porthole/logs';
import type { SearchQuery } from '@porthole/logs/types';
import type { Peer } from '../../fan-out/peers.ts';
import type { MemberLane } from '../merge/member-lane.ts';
import type { MemberPosition } from './cluster-cursor.ts';

/** What a member was asked, and where its part began. */
export interface QueriedMember {
  lane: MemberLane;
  peer: Peer;
  query: SearchQuery;
  began: MemberPosition;
}

/** Several cursors joined by it stand for a place in several logs at once. */
const CURSOR_SEPARATOR = '~';

/**
 * Where a member goes on so that nothing is lost and nothing told twice, although some of what it gave was not told. A
 * place in several logs is the last record told of each, and where the log was begun for those of which none was. May
 * ask the member for that; throws where it does not answer.
 */
export async function resumePosition(
  { lane, peer, query, began }: QueriedMember,
  options: CallOptions,
): Promise<MemberPosition> {
  if (lane.end && !lane.hasNext) return lane.end.cursor === null ? 'done' : { cursor: lane.end.cursor };
  const delivered = lane.deliveredCursors;
  const last = [...delivered.values()].at(-1);
  if (last === undefined) return began;
  if (query.file !== undefined || query.family !== undefined) return { cursor: last };
  const state = () => {
    // Not worth another deadline.
    if (lane.problem !== undefined) throw new PortholeError('UNREACHABLE', 'it failed before');
    return peer.state;
  };
  const first = await startMarks(began, { state, query }, options);
  const files = new Set([...delivered.keys(), ...first.keys()]);
  const families = files.size > 1 ? await familiesByFile(state(), options) : new Map<string, string>();
  const marks = new Map<string, string>();
  for (const [file, mark] of [...first, ...delivered]) marks.set(families.get(file) ?? file, mark);
  return { cursor: [...marks.values()].join(CURSOR_SEPARATOR) };
}

interface EdgeQuery {
  state(): NodeState;
  query: SearchQuery;
}

/** The places at which its logs were begun, by file. */
async function startMarks(
  began: MemberPosition,
  { state, query }: EdgeQuery,
  options: CallOptions,
): Promise<Map<string, string>> {
  if (typeof began === 'string') return new Map();
  const cursor = 'cursor' in began ? began.cursor : await fetchEdgeCursor(state(), query, options);
  const marks = new Map<string, string>();
  for (const mark of cursor?.split(CURSOR_SEPARATOR) ?? []) {
    const file = cursorFile(mark);
    if (file !== undefined) marks.set(file, mark);
  }
  return marks;
}

/** A search that began at a time names, at its end, the place of that time in every log it has not come to. */
async function fetchEdgeCursor(
  state: NodeState,
  query: SearchQuery,
  options: CallOptions,
): Promise<string | undefined> {
  for await (const items of state.searchLogs({ ...query, limit: 1, before: 0, after: 0 }, options)) {
    const end = items.at(-1);
    if (end?.type === 'end') return end.cursor ?? undefined;
  }
  return undefined;
}

/** `undefined` for what names no record: a search that has not come anywhere says so in its cursor. */
function cursorFile(mark: string): string | undefined {
  try {
    return decodeCursor(mark)[0]?.file;
  } catch {
    return undefined;
  }
}

async function familiesByFile(state: NodeState, options: CallOptions): Promise<Map<string, string>> {
  const files = await state.logFiles(options);
  return new Map(files.map(({ name, family }) => [name, family]));
}
