import { type MemberSelection, matchesPattern } from '@porthole/contract';
import { groupFamilies } from '@porthole/logs';
import type { LogSelection, RecordFilter } from '@porthole/logs/types';
import { quote } from '../clickhouse/quote.ts';
import { joined } from './sql/bounds.ts';
import { quoteTime } from './sql/quote-time.ts';

/** Up to which own time the rows of nodes are asked for; `null`: all. Rows without a time have none to compare. */
export interface Ceilings {
  default: number | null;
  nodes?: Readonly<Record<string, number | null>>;
}

/** Whose rows a question is about, and until when. */
export interface ScopeOptions {
  cluster: string;
  /** Exact ids; `undefined`: all. */
  ids: readonly string[] | undefined;
  /** `undefined`: all. */
  logs: readonly string[] | undefined;
  ceilings: Ceilings | undefined;
}

type ScopeRequest = LogSelection & Pick<RecordFilter, 'fromMs' | 'toMs'>;

/** A condition on rows by everything but their content and the window that is asked for. */
export function scopeToSql({ file, family, fromMs, toMs }: ScopeRequest, options: ScopeOptions): string {
  const { cluster, ids, logs, ceilings } = options;
  const conditions = [`cluster = ${quote(cluster)}`];
  if (ids) conditions.push(inList('node', ids));
  if (family !== undefined) conditions.push(`log = ${quote(family)}`);
  else if (file !== undefined) conditions.push(`log = ${quote(familyOf(file))}`);
  if (logs) conditions.push(inList('log', logs));
  if (fromMs !== undefined || toMs !== undefined) conditions.push('has_time = 1');
  if (fromMs !== undefined) conditions.push(`time_ms >= ${quoteTime(Math.ceil(fromMs))}`);
  if (toMs !== undefined) conditions.push(`time_ms < ${quoteTime(Math.ceil(toMs))}`);
  if (ceilings) conditions.push(ceilingsToSql(ceilings));
  return joined('AND', conditions);
}

/** The archive knows logs by the name of their live file. */
export function familyOf(file: string): string {
  return groupFamilies([file])[0]?.name ?? file;
}

function inList(column: string, texts: readonly string[]): string {
  return texts.length === 0 ? '0' : `${column} IN (${texts.map(quote).join(', ')})`;
}

function ceilingsToSql({ default: common, nodes = {} }: Ceilings): string {
  const byCeiling = new Map<number | null, string[]>();
  for (const [node, ceiling] of Object.entries(nodes))
    if (ceiling !== common) byCeiling.set(ceiling, [...(byCeiling.get(ceiling) ?? []), node]);
  const others = [...byCeiling.values()].flat();
  const isCommon = others.length === 0 ? '1' : `NOT (${inList('node', others)})`;
  const parts = [...byCeiling].map(([ceiling, ids]) => joined('AND', [inList('node', ids), isBelow(ceiling)]));
  return joined('OR', [joined('AND', [isCommon, isBelow(common)]), ...parts]);
}

function isBelow(ceiling: number | null): string {
  return ceiling === null ? '1' : `(has_time = 1 AND time_ms < ${quoteTime(Math.ceil(ceiling))})`;
}

/** The ids among `known` that a request selects; `undefined`: all. */
export function selectIds(
  { nodes, role }: MemberSelection,
  known: readonly { node: string; role: string }[],
): readonly string[] {
  return known
    .filter((each) => nodes === undefined || nodes.some((name) => matchesPattern(each.node, name)))
    .filter((each) => role === undefined || each.role === role)
    .map(({ node }) => node);
}
