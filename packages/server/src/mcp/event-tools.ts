import {
  type ClusterRecord,
  EVENT_KINDS,
  type IncidentStep,
  isEventKind,
  isRest,
  kindsQuery,
  missingText,
  PortholeError,
  type Standout,
  toEvent,
} from '@porthole/contract';
import { toIso, toSelection, unanswered } from './config-tools.ts';
import { collectRecords } from './record-tools.ts';
import {
  count,
  countNodes,
  cutText,
  cutValue,
  MEMBERS,
  readTimes,
  TIME,
  type Tool,
  takeFirst,
  toCount,
} from './tool.ts';

const MOST_EVENTS = 200;
const DEFAULT_EVENTS = 30;
const EVENTS_MS = 20_000;

/** So that a report is at most 4,000 characters long. */
const MOST_STEPS = 10;
const MOST_STANDOUTS = 4;
const MOST_GAPS = 5;
const STEP_CHARACTERS = 190;

/** Characters of an event in a line. */
const EVENT_CHARACTERS = 300;

const MOST_KEYS = 40;
const MOST_CHANGES = 20;
const VALUE_CHARACTERS = 200;

/** What happened to nodes, and how they were configured then. */
export const EVENT_TOOLS: readonly Tool[] = [
  {
    name: 'what_happened',
    title: 'What happened',
    description:
      'Reports the most unusual stretch of a time range on all nodes: what happened in its order (changed settings, restarts, first errors, losses), and what stands out with the numbers behind it. Ask this first about an incident, a restart or a failure.',
    input: {
      since: { type: 'string', description: `Look from this time on: ${TIME}. Default: 1h.` },
      until: { type: 'string', description: 'Look before this time. Default: now.' },
      ...MEMBERS,
    },
    async run(args, context) {
      const { since, until } = await readTimes(context, { since: args.since ?? '1h', until: args.until });
      const range = { ...(since !== undefined && { fromMs: since }), ...(until !== undefined && { toMs: until }) };
      const { client, signal } = context;
      const request = { ...toSelection(args), ...range };
      const incident = await client.incident({ nodes: ['*'], ...request }, { signal, budgetMs: EVENTS_MS });
      const { headline, steps, standouts, coverage, members, lookedFromMs, lookedToMs } = incident;
      const gaps = coverage.missing.flatMap((part) => (isRest(part) ? [] : [missingText(part)]));
      const shown = takeFirst(steps, MOST_STEPS, 'steps');
      return {
        coverage: {
          about: `what happened on ${countNodes(members)} from ${toIso(lookedFromMs)} to ${toIso(lookedToMs)}`,
          gaps: [...gaps.slice(0, MOST_GAPS), ...shown.gaps],
        },
        lines: [headline, ...shown.taken.map(stepLine), ...standouts.slice(0, MOST_STANDOUTS).map(standoutLine)],
        next: 'Ask config_at for values of changed keys, logs_around with the time of a step for what every node logged then.',
      };
    },
  },
  {
    name: 'list_events',
    title: 'List events',
    description:
      'What happened to nodes, newest first: starts, stops, kills, changed settings, bursts of errors, members lost and back, full disks, clocks that were set. Ask this for "why did node 2 restart".',
    input: {
      since: { type: 'string', description: `Only events from this time on: ${TIME}. Default: 24h.` },
      until: { type: 'string', description: 'Only events before this time.' },
      kinds: { type: 'array', items: { type: 'string', enum: [...EVENT_KINDS] }, description: 'Only these kinds.' },
      ...MEMBERS,
      limit: count(MOST_EVENTS, DEFAULT_EVENTS, 'events'),
    },
    async run(args, context) {
      const { since, until } = await readTimes(context, { since: args.since ?? '24h', until: args.until });
      const limit = toCount(args.limit, DEFAULT_EVENTS);
      const kinds = (Array.isArray(args.kinds) ? args.kinds : []).filter(isEventKind);
      const request = {
        ...toSelection(args),
        ...(since !== undefined && { fromMs: since }),
        ...(until !== undefined && { toMs: until }),
        query: kindsQuery(kinds),
        order: 'newest',
        limit,
      } as const;
      const { client, signal } = context;
      const found = client.events({ nodes: ['*'], ...request }, { signal, budgetMs: EVENTS_MS });
      return {
        ...(await collectRecords(found, { limit, textOf: eventText })),
        next: 'Ask config_at for the values of changed keys, logs_around for what was logged at that time.',
      };
    },
  },
  {
    name: 'config_at',
    title: 'Configuration at a time',
    description:
      'The configuration of a node as it was at a time: since when it was so, what changed with it from what to what, and the values of keys. Secrets are masked.',
    input: {
      time: { type: 'string', description: `The time: ${TIME}.` },
      node: { type: 'string', description: 'Id of the node. Default: the node that is asked.' },
      key: { type: 'string', description: 'Only keys that contain this text.' },
    },
    required: ['time'],
    async run({ time, node, key }, context) {
      const { client, signal } = context;
      const { time: atMs } = await readTimes(context, { time });
      if (atMs === undefined) throw new PortholeError('PARAMETER_INVALID', 'give "time"');
      const state = typeof node === 'string' ? client.node(node) : client;
      const { nodes, members } = await state.configHistory({ atMs, limit: 1 }, { signal });
      const history = nodes[0]?.history;
      if (!history) throw unanswered('its past configurations', members[0]);
      const [period] = history.periods;
      if (!period)
        throw new PortholeError('CONFIG_VERSION_NOT_FOUND', `no configuration of ${toIso(atMs)} is kept there`);
      const { settings } = await state.configVersion(period.version, { signal });
      const wanted = settings.filter((entry) => typeof key !== 'string' || entry.key.includes(key));
      const kept = takeFirst(wanted, MOST_KEYS, 'keys');
      const changed = takeFirst(period.changes ?? [], MOST_CHANGES, 'changes');
      const unknown = period.changes === null ? ['what changed with it is not known: the one before is not kept'] : [];
      const whose = typeof node === 'string' ? `node ${node}` : 'this node';
      return {
        coverage: {
          about: `every ${typeof key === 'string' ? 'matching ' : ''}key of ${whose} at ${toIso(atMs)}`,
          gaps: [...unknown, ...changed.gaps, ...kept.gaps],
        },
        data: {
          since: toIso(period.fromMs),
          until: toIso(period.toMs) ?? 'still in use',
          changed: changed.taken.map((change) => ({
            key: change.key,
            before: shortValue(change.before),
            after: shortValue(change.after),
          })),
          settings: Object.fromEntries(kept.taken.map((entry) => [entry.key, shortValue(entry.value)])),
        },
      };
    },
  },
];

function stepLine({ timeMs, uncertaintyMs, nodes, title, detail, changes, record }: IncidentStep): string {
  const doubt = uncertaintyMs >= 1000 ? ` (up to ${Math.round(uncertaintyMs / 1000)} s earlier)` : '';
  const changed = changes.map(({ key, before, after }) =>
    after === undefined ? key : `${key}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`,
  );
  const facts = [...changed, detail ?? '', record && !title.includes(record.message) ? record.message : ''];
  const known = facts.filter(Boolean).join('; ');
  return cutText(`${toIso(timeMs)}${doubt} ${nodes.slice(0, 3).join(', ')} ${title} ${known}`, STEP_CHARACTERS);
}

function standoutLine({ score, title, detail, nodes }: Standout): string {
  const where = nodes.slice(0, 3).join(', ');
  return cutText(`stands out (${Math.round(score)}): ${where} ${title}; ${detail}`, STEP_CHARACTERS);
}

function eventText(record: ClusterRecord): string {
  const event = toEvent(record);
  if (!event) return record.message;
  const { cause: _cause, ...fields } = event.fields;
  const known = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
  return cutText(`${event.kind}: ${event.message}${known}`, EVENT_CHARACTERS);
}

function shortValue(value: unknown): unknown {
  return cutValue(value, VALUE_CHARACTERS);
}
