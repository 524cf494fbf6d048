import {
  type ClusterItem,
  type ClusterRecord,
  type MemberReport,
  type MemberSelection,
  PortholeError,
} from '@porthole/client';
import { type EventKind, kindsQuery, type ResponseFacts } from '@porthole/contract';
import { readSearch } from '../state/read-search.ts';
import { session } from '../state/session.ts';
import { type ShownEvent, shownEvents, withChanges } from './event-text.ts';

/** More events than anybody reads, or a chart can mark. */
const MAX_EVENTS = 200;

/** Past configurations of a node that are looked at for the values of a change. */
const MAX_PERIODS = 50;

const BUDGET_MS = 3000;

export interface LoadedEvents extends ResponseFacts {
  /** Newest first. */
  events: ShownEvent[];
  records: ClusterRecord[];
  members: MemberReport[];
}

interface EventsRequest extends MemberSelection {
  fromMs?: number;
  toMs?: number;
  kinds?: readonly EventKind[];
  /** Only what was seen of this member. */
  member?: string;
}

/** What happened on the nodes in a time range. */
export async function loadEvents(request: EventsRequest, signal: AbortSignal): Promise<LoadedEvents> {
  const { records, ...facts } = await readEvents(request, signal);
  return { ...facts, records, events: await addChanges(shownEvents(records), signal) };
}

/** What happened to one node: what it reported itself, and what others saw of it. */
export async function loadNodeEvents(id: string, request: EventsRequest, signal: AbortSignal) {
  const [own, seen] = await Promise.all([
    readEvents({ ...request, nodes: [id] }, signal),
    readEvents({ ...request, member: id, kinds: ['member-lost', 'member-left', 'member-back'] }, signal),
  ]);
  const isOwn = ({ context }: ClusterRecord) => (context as { member?: unknown } | undefined)?.member === undefined;
  const records = [...own.records.filter(isOwn), ...seen.records];
  return { ...own, records, events: await addChanges(shownEvents(records), signal) };
}

async function readEvents({ kinds, member, ...request }: EventsRequest, signal: AbortSignal) {
  const isKind = kindsQuery(kinds);
  const isMember = { kind: 'field', field: 'member', operator: '=', value: member ?? '' } as const;
  const query = member === undefined ? isKind : ({ kind: 'and', nodes: [isKind, isMember] } as const);
  const batches = session.client.events(
    { nodes: ['*'], ...request, limit: MAX_EVENTS, query },
    { signal, budgetMs: BUDGET_MS },
  );
  const { records, end } = await readSearch<ClusterItem>(batches);
  const { members, reason, coverage } = end;
  return { records, members, reason, ...(coverage && { coverage }) };
}

/** The values of changes are in the history of configurations, which not everybody may read. */
async function addChanges(events: ShownEvent[], signal: AbortSignal): Promise<ShownEvent[]> {
  const changed = [...new Set(events.filter(({ kind }) => kind === 'config-changed').map(({ node }) => node))];
  if (changed.length === 0) return events;
  try {
    const { nodes } = await session.client.configHistory({ nodes: changed, limit: MAX_PERIODS }, { signal });
    return withChanges(events, nodes);
  } catch (error) {
    // Without them, an event names the keys.
    if (error instanceof PortholeError) return events;
    throw error;
  }
}
