import type { Client } from '@porthole/client';
import {
  type ClusterRecord,
  coverageOf,
  type EventKind,
  failures,
  kindsQuery,
  missingText,
  type NodeEvent,
  toEvent,
} from '@porthole/contract';
import type { Zone } from '@porthole/logs';
import { EXIT, interruptSignal, ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { formatTable } from '../output/format-table.ts';
import { formatTime } from '../output/format-units.ts';
import { visibleText } from '../output/visible-text.ts';
import { openTimed, requireRange, timeFlag } from '../records/record-flags.ts';
import { memberSelection } from '../sources/source-flags.ts';

const DEFAULT_LIMIT = 50;

/** An event and its node. */
interface ShownEvent extends NodeEvent {
  node: string;
}

/** Prints what happened: to all nodes of the cluster, or to a node without one. */
export async function run(invocation: Invocation): Promise<number> {
  const signal = interruptSignal();
  const { terminal } = invocation;
  if (invocation.isOn('follow') && invocation.text('until') !== undefined)
    throw new ProgramError('--until cannot be combined with --follow');
  const { client, zone, clock } = await openTimed(invocation, signal);
  const request = buildRequest(invocation, clock);
  const { events, missing } = await fetchEvents(client, request, signal);
  await print(invocation, events.toReversed(), zone);
  for (const part of missing) terminal.warn(visibleText(part));
  if (invocation.isOn('follow')) {
    // From before the first request: what happened since, or was printed with it, is told by its identity.
    const start = { timeMs: clock.nowMs };
    await follow(invocation, {
      client,
      request: { ...request, start },
      zone,
      signal,
      printed: new Set(events.map(eventKey)),
    });
  }
  if (missing.length > 0) return EXIT.partial;
  return events.length === 0 && !invocation.isOn('follow') ? EXIT.different : EXIT.ok;
}

type EventsRequest = ReturnType<typeof buildRequest>;

function buildRequest(invocation: Invocation, clock: Parameters<typeof timeFlag>[2]) {
  const fromMs = timeFlag(invocation, 'since', clock);
  const toMs = timeFlag(invocation, 'until', clock);
  requireRange(fromMs, toMs);
  const kinds = invocation.texts('kind') as EventKind[];
  const { args } = invocation;
  return {
    ...(fromMs !== undefined && { fromMs }),
    ...(toMs !== undefined && { toMs }),
    ...(kinds.length > 0 && { query: kindsQuery(kinds) }),
    ...(args.length > 0 && { nodes: [...args] }),
    ...memberSelection(invocation),
    limit: invocation.number('limit') ?? DEFAULT_LIMIT,
  };
}

/** Newest first. */
async function fetchEvents(client: Client, request: EventsRequest, signal: AbortSignal) {
  const events: ShownEvent[] = [];
  const missing: string[] = [];
  for await (const items of client.events({ nodes: ['*'], ...request, order: 'newest' }, { signal }))
    for (const item of items) {
      if (item.type !== 'end') events.push(...shown(item));
      else {
        // Older events beyond the limit were not requested.
        const parts = failures(coverageOf(item)).filter(({ reason }) => reason !== 'limit');
        missing.push(...parts.map((part) => missingText(part)));
      }
    }
  return { events, missing };
}

function shown(record: ClusterRecord): ShownEvent[] {
  const event = toEvent(record);
  return event ? [{ ...event, timeMs: record.atMs ?? event.timeMs, node: record.node }] : [];
}

function eventKey({ node, timeMs, kind, message }: ShownEvent): string {
  return JSON.stringify([node, timeMs, kind, message]);
}

async function print(invocation: Invocation, events: readonly ShownEvent[], zone: Zone): Promise<void> {
  const { terminal } = invocation;
  if (invocation.text('output') === 'json') {
    await terminal.write(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    return;
  }
  if (events.length === 0) return;
  const rows = events.map(({ timeMs, node, kind, message }) => [
    formatTime(timeMs, zone),
    visibleText(node),
    kind,
    visibleText(message),
  ]);
  const titles = ['TIME', 'NODE', 'EVENT', 'WHAT HAPPENED'];
  const columns = titles.map((title) => ({ title }));
  await terminal.write(formatTable(columns, rows, terminal));
}

interface FollowOptions {
  client: Client;
  request: EventsRequest & { start: { timeMs: number } };
  zone: Zone;
  signal: AbortSignal;
  /** Keys of events that were printed before. */
  printed: ReadonlySet<string>;
}

/** One line for each event, until interrupted. */
async function follow(
  invocation: Invocation,
  { client, request, zone, signal, printed }: FollowOptions,
): Promise<void> {
  const { limit: _limit, fromMs: _fromMs, ...filter } = request;
  for await (const items of client.followEvents({ nodes: ['*'], ...filter }, { signal }))
    for (const item of items)
      if (item.type === 'record')
        for (const event of shown(item).filter((one) => !printed.has(eventKey(one))))
          await invocation.terminal.write(
            invocation.text('output') === 'json'
              ? `${JSON.stringify(event)}\n`
              : `${formatTime(event.timeMs, zone)}  ${visibleText(event.node)}  ${event.kind}  ${visibleText(event.message)}\n`,
          );
}
