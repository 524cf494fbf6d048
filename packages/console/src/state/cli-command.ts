import { durationText, quoteShell } from '@porthole/contract';
import type { TimeRange } from './time-range.ts';
import type { ConfigView, IncidentsView, LogsView } from './view.ts';

/** Arguments that a shell needs no quotes for. */
const UNQUOTED = /^[\w@%+=:,./-]+$/;

interface CommandOptions {
  url: string;
}

/** The command that prints the records of a view, using the node that serves this page. */
export function cliCommand(view: LogsView, { url }: CommandOptions): string {
  const flags = [...sourceArgs(view), ...filterArgs(view), ...columnArgs(view), ...startArgs(view)];
  return buildCommand(['logs', ...flags], url);
}

function sourceArgs({ sources, labels }: Pick<LogsView, 'sources' | 'labels'>): string[] {
  if (sources.length === 0) return labels.length === 0 ? ['--all'] : labelArgs(labels);
  const isRotated = sources.some(({ log }) => log?.kind === 'family');
  const names = sources.map(({ node, log }) => `${node}:${log?.name ?? ''}`);
  // Named nodes: the program takes either them or labels.
  return [...names, ...(isRotated ? ['--rotated'] : [])];
}

function labelArgs(labels: readonly string[]): string[] {
  return labels.flatMap((label) => ['--label', label]);
}

function filterArgs(view: LogsView): string[] {
  const { range, minLevel, query, text, isRegex, isOnlyMatches, excluded, callSite, component } = view;
  const isSearched = isOnlyMatches && text !== '';
  const hasQuery = query.trim() !== '';
  const isCased = view.isCaseSensitive && (isSearched || hasQuery || excluded.length > 0);
  return [
    ...rangeArgs(range),
    ...(minLevel === null ? [] : ['--level', minLevel.toLowerCase()]),
    ...(hasQuery ? (query.startsWith('-') ? [`--query=${query}`] : ['-Q', query]) : []),
    ...(isSearched ? flagged(isRegex ? '--regex' : '--grep', text) : []),
    ...excluded.flatMap((word) => flagged('--exclude', word)),
    ...(isCased ? ['--case-sensitive'] : []),
    ...(callSite === null ? [] : flagged('--source', callSite)),
    ...(component === null ? [] : flagged('--component', component)),
  ];
}

/** A value that looks like a flag is attached to its own flag. */
function flagged(flag: string, value: string): string[] {
  return value.startsWith('-') ? [`${flag}=${value}`] : [flag, value];
}

function rangeArgs(range: TimeRange | null): string[] {
  if (range === null) return [];
  if (range.kind === 'last') return ['--since', durationText(range.spanMs)];
  const { fromMs, toMs } = range;
  return [
    ...(fromMs === null ? [] : ['--since', new Date(fromMs).toISOString()]),
    ...(toMs === null ? [] : ['--until', new Date(toMs).toISOString()]),
  ];
}

/** Prints the columns of the view. Names with a comma cannot be given. */
function columnArgs({ columns, sources }: LogsView): string[] {
  if (columns.length === 0) return [];
  const chosen = columns
    .filter((name) => !name.includes(','))
    .map((name) => (isTaken(name) ? `context.${name}` : name));
  const names = ['time', ...(sources.length === 1 ? [] : ['node']), 'level', ...chosen, 'message'];
  return ['--fields', [...new Set(names)].join()];
}

/** Whether the program calls something else by this name. */
function isTaken(name: string): boolean {
  return name === 'time' || name === 'node' || name === 'file';
}

/** Follows, or starts at the time of the view. */
function startArgs({ isLive, timeMs, range }: LogsView): string[] {
  if (isLive) return ['--follow'];
  if (timeMs === null || range !== null) return [];
  return ['--since', new Date(timeMs).toISOString()];
}

function buildCommand(args: readonly string[], url: string): string {
  return ['porthole', ...args, '--url', url].map((arg) => (UNQUOTED.test(arg) ? arg : quoteShell(arg))).join(' ');
}

export function configGetCommand(nodeId: string, { url }: CommandOptions): string {
  return buildCommand(['config', 'get', `${nodeId}:`], url);
}

export function configPairCommand(left: string, right: string, { url }: CommandOptions): string {
  return buildCommand(['config', 'diff', `${left}:`, `${right}:`, '-o', 'unified'], url);
}

export function configDiffCommand(
  { role, labels, by, showExpected }: Pick<ConfigView, 'role' | 'labels' | 'by' | 'showExpected'>,
  { url }: CommandOptions,
): string {
  const flags = [
    ...(role === null ? [] : ['--role', role]),
    ...labelArgs(labels),
    ...(by === null ? [] : ['--by', by]),
    ...(showExpected ? ['--expected'] : []),
  ];
  return buildCommand(['config', 'diff', ...flags], url);
}

/** The command that reports what happened in the time range of a page. */
export function incidentCommand({ range, labels }: IncidentsView, { url }: CommandOptions): string {
  const when =
    range?.kind === 'last'
      ? ['--last', durationText(range.spanMs)]
      : rangeArgs(range).map((arg) => ({ '--since': '--from', '--until': '--to' })[arg] ?? arg);
  return buildCommand(['incident', ...when, ...labelArgs(labels)], url);
}
