import type { ClusterEnd, ClusterRecord, MemberReport, MemberSelection } from '@porthole/client';
import { type AnswerFacts, type EventKind, kindsQuery } from '@porthole/contract';
import { toItems } from '@porthole/records';
import { readSearch } from '../state/read-search.ts';
import { session } from '../state/session.ts';
import { type ShownEvent, shownEvents } from './event-text.ts';

/** More events than anybody reads, or a chart can mark. */
const MAX_EVENTS = 200;

const BUDGET_MS = 3000;

export interface LoadedEvents extends AnswerFacts {
  /** Newest first. */
  events: ShownEvent[];
  members: MemberReport[];
}

interface EventsRequest extends MemberSelection {
  fromMs: number;
  toMs: number;
  kinds?: readonly EventKind[];
}

/** What happened on the nodes in a time range. */
export async function loadEvents({ kinds, ...request }: EventsRequest, signal: AbortSignal): Promise<LoadedEvents> {
  const query = { ...request, limit: MAX_EVENTS, query: kindsQuery(kinds) };
  const batches = session.client.cluster.events(query, { signal, budgetMs: BUDGET_MS });
  const { records, end } = await readSearch(toItems<ClusterRecord, ClusterEnd>(batches));
  const { members, reason, coverage } = end;
  return { events: shownEvents(records), members, reason, ...(coverage && { coverage }) };
}
