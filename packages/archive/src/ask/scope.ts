import { type Labels, type MemberSelection, matchesLabels, matchesPattern } from '@porthole/contract';
import { groupFamilies } from '@porthole/logs';
import type { LogSelection, RecordFilter } from '@porthole/logs/types';
import { quote } from '../clickhouse/quote.ts';
import { joined } from './sql/bounds.ts';
import { quoteTime } from './sql/quote-time.ts';

/** Up to which own time the rows of nodes are asked for; `null`: all. Rows without a time have none to compare. */
export interface Ceilings {
  default: number | null;
  nodes?: Readonly<Record<string, number | null>>;
  /** Of logs whose ceiling is not that of their node. */
  logs?: readonly { node: string; log: string; ceiling: number | null }[];
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
  if (ceilings) conditions.push(withLogCeilings(ceilingsToSql(ceilings), ceilings));
  return joined('AND', conditions);
}

/** The archive knows logs by the name of their live file. */
export function familyOf(file: string): string {
  return groupFamilies([file])[0]?.name ?? file;
}

function inList(column: string, texts: readonly string[]): string {
  return texts.length === 0 ? '0' : `${column} IN (${texts.map(quote).join(', ')})`;
}

/** By one look-up per row, however many nodes there are: a condition for each took minutes with ten thousand. */
function ceilingsToSql({ default: common, nodes = {} }: Ceilings): string {
  const others = Object.entries(nodes).filter(([, ceiling]) => ceiling !== common);
  const limited = others.flatMap(([node, ceiling]) => (ceiling === null ? [] : [[node, ceiling] as const]));
  const ids = limited.map(([node]) => node);
  const free = others.flatMap(([node, ceiling]) => (ceiling === null ? [node] : []));
  if (common === null && ids.length === 0) return '1';
  const ceiling =
    ids.length === 0
      ? toDecimal(common ?? 0)
      : `transform(node, [${ids.map(quote).join(', ')}], [${limited.map(([, each]) => toDecimal(each)).join(', ')}], ${toDecimal(common ?? 0)})`;
  const isBelow = `(has_time = 1 AND time_ms < ${ceiling})`;
  return joined('OR', [isBelow, common === null ? `NOT (${inList('node', ids)})` : inList('node', free)]);
}

/** Ids of nodes have no slash. */
function withLogCeilings(ofNodes: string, { logs = [] }: Ceilings): string {
  if (logs.length === 0) return ofNodes;
  const name = "concat(node, '/', log)";
  const toName = ({ node, log }: { node: string; log: string }) => `${node}/${log}`;
  const limited = logs.flatMap(({ ceiling, ...log }) => (ceiling === null ? [] : [{ name: toName(log), ceiling }]));
  const free = logs.filter(({ ceiling }) => ceiling === null);
  const names = limited.map((log) => log.name);
  const ceilings = limited.map(({ ceiling }) => toDecimal(ceiling)).join(', ');
  const ceiling = `transform(${name}, [${names.map(quote).join(', ')}], [${ceilings}], ${toDecimal(0)})`;
  return joined('OR', [
    joined('AND', [`NOT (${inList(name, logs.map(toName))})`, ofNodes]),
    ...(free.length > 0 ? [inList(name, free.map(toName))] : []),
    ...(names.length > 0 ? [joined('AND', [inList(name, names), 'has_time = 1', `time_ms < ${ceiling}`])] : []),
  ]);
}

/** All of one type, whatever their sign. */
function toDecimal(timeMs: number): string {
  return `${quoteTime(Math.ceil(timeMs))}.0`;
}

/** The ids among `known` that a request selects. */
export function selectIds(
  { nodes, role, labels: patterns }: MemberSelection,
  known: readonly { node: string; role: string; labels: Labels }[],
): readonly string[] {
  return known
    .filter((each) => nodes === undefined || nodes.some((name) => matchesPattern(each.node, name)))
    .filter((each) => role === undefined || each.role === role)
    .filter((each) => patterns === undefined || matchesLabels(each.labels, patterns))
    .map(({ node }) => node);
}
