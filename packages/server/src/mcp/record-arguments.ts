import type { NodeClient } from '@porthole/client';
import { LEVELS, PortholeError, readTime } from '@porthole/contract';
import { createZone, type Level, type RecordFilter } from '@porthole/logs';
import type { ToolContext } from './tool.ts';

/* Arguments that several tools about records take. */

export type Args = Readonly<Record<string, unknown>>;

/** A search that takes longer returns what it has found. */
export const BUDGET_MS = 20_000;

export const TIME = 'RFC 3339, "2026-11-15 14:05" or "14:05" in the zone of the node, or how long ago: 15m, 2h, 3d';

/** Which nodes. */
export const MEMBERS = {
  nodes: {
    type: 'array',
    items: { type: 'string' },
    maxItems: 100,
    description: 'Ids of nodes, or patterns with * and ?. Default: all nodes of the cluster.',
  },
  role: { type: 'string', description: 'Only nodes with this role.' },
  labels: {
    type: 'array',
    items: { type: 'string' },
    maxItems: 16,
    description:
      'Only nodes with these labels, like "zone=eu-1"; * and ? in the value match any text. Of each name one must match. list_nodes has the labels.',
  },
} as const;

export const SELECTION = {
  ...MEMBERS,
  store: {
    type: 'string',
    enum: ['auto', 'nodes', 'archive'],
    description:
      'Where records are read. auto (default): what nodes still have from them, older records from the archive if there is one.',
  },
  log: { type: 'string', description: 'Only this log with its rotated files, as "log" in list_logs.' },
} as const;

export const FILTERS = {
  since: { type: 'string', description: `Only records from this time on: ${TIME}.` },
  until: { type: 'string', description: 'Only records before this time.' },
  level: {
    type: 'string',
    enum: LEVELS.map((level) => level.toLowerCase()),
    description: 'This level or a higher one. Records without a level never match.',
  },
  texts: {
    type: 'array',
    items: { type: 'string' },
    maxItems: 10,
    description: 'Texts that must all occur, ignoring case.',
  },
  exclude: { type: 'array', items: { type: 'string' }, maxItems: 10, description: 'Texts that must not occur.' },
  regex: { type: 'string', description: 'A regular expression (RE2) found anywhere in the record, ignoring case.' },
  query: {
    type: 'string',
    description:
      'Conditions on fields: shard=13 http.status>=500 cost>500ms component:Query -"timeout" source:exec.go (a OR b). = is equal, : contains as whole words, < <= > >= compare numbers, durations (500ms) and sizes (10MB), field:* exists, - excludes; words without a field are texts. list_fields names the fields.',
  },
} as const;

/** A number of items. */
export function count(most: number, usual: number, what: string) {
  return {
    type: 'integer',
    minimum: 1,
    maximum: most,
    description: `Maximum number of ${what}. Default: ${usual}.`,
  } as const;
}

/** The conditions that the arguments of a tool name. */
export async function toFilter(
  args: Args,
  context: ToolContext,
): Promise<Omit<RecordFilter, 'query'> & { family?: string; query?: string }> {
  const { since, until } = await readTimes(context, { since: args.since, until: args.until });
  const texts = (value: unknown) => (Array.isArray(value) ? value.map(String).filter((text) => text !== '') : []);
  const { level, regex, log, query } = args;
  return {
    ...(since !== undefined && { fromMs: since }),
    ...(until !== undefined && { toMs: until }),
    ...(typeof level === 'string' && { minLevel: level.toUpperCase() as Level }),
    ...(texts(args.texts).length > 0 && { terms: texts(args.texts) }),
    ...(texts(args.exclude).length > 0 && { excluded: texts(args.exclude) }),
    ...(typeof regex === 'string' && regex !== '' && { regex }),
    ...(typeof query === 'string' && query !== '' && { query }),
    ...(typeof log === 'string' && log !== '' && { family: log }),
  };
}

/** Times as the node reads them: by its clock and in its zone. */
export async function readTimes<Name extends string>(
  { client, signal }: { client: Pick<NodeClient, 'describe'>; signal: AbortSignal },
  given: Record<Name, unknown>,
): Promise<Partial<Record<Name, number>>> {
  const named = Object.entries(given).flatMap(([name, text]) =>
    typeof text === 'string' && text !== '' ? [{ name: name as Name, text }] : [],
  );
  if (named.length === 0) return {};
  const { clockMs, timeZone } = await client.describe({ signal });
  const clock = { nowMs: clockMs, offsetMsAt: createZone(timeZone).offsetMsAt };
  const times: Partial<Record<Name, number>> = {};
  for (const { name, text } of named) {
    const reading = readTime(text, clock);
    if ('problem' in reading) throw new PortholeError('PARAMETER_INVALID', `${name}: ${reading.problem}`);
    times[name] = reading.timeMs;
  }
  return times;
}

export function toCount(value: unknown, usual: number): number {
  return typeof value === 'number' ? value : usual;
}
