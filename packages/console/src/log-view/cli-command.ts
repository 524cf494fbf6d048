import type { LogsView, SourceChoice, TimeRange } from '../state/view.ts';

/** Words that a shell takes as they are. */
const UNQUOTED = /^[\w@%+=:,./-]+$/;

/** Units of a span, the largest that fits first. */
const UNITS = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

/** The command that prints what a view shows, asking the node this page comes from. */
export function cliCommand(view: LogsView, { origin }: { origin: string }): string {
  const flags = [...sourceArgs(view.sources), ...filterArgs(view), ...startArgs(view)];
  const args = ['porthole', 'logs', ...flags, '--url', origin];
  return args.map(quote).join(' ');
}

function sourceArgs(sources: readonly SourceChoice[]): string[] {
  if (sources.length === 0) return ['--all'];
  const isRotated = sources.some(({ log }) => log?.kind === 'family');
  return [...sources.map(({ node, log }) => `${node}:${log?.name ?? ''}`), ...(isRotated ? ['--rotated'] : [])];
}

function filterArgs(view: LogsView): string[] {
  const { range, minLevel, text, isRegex, isCaseSensitive, isOnlyMatches, excluded, callSite, component } = view;
  const isSearched = isOnlyMatches && text !== '';
  const isCased = isCaseSensitive && (isSearched || excluded.length > 0);
  return [
    ...rangeArgs(range),
    ...(minLevel === null ? [] : ['--level', minLevel.toLowerCase()]),
    ...(isSearched ? flagged(isRegex ? '--regex' : '--grep', text) : []),
    ...excluded.flatMap((word) => flagged('--exclude', word)),
    ...(isCased ? ['--case-sensitive'] : []),
    ...(callSite === null ? [] : flagged('--source', callSite)),
    ...(component === null ? [] : flagged('--component', component)),
  ];
}

/** A value that looks like a flag is tied to its own. */
function flagged(flag: string, value: string): string[] {
  return value.startsWith('-') ? [`${flag}=${value}`] : [flag, value];
}

function rangeArgs(range: TimeRange | null): string[] {
  if (range === null) return [];
  if (range.kind === 'last') return ['--since', span(range.spanMs)];
  const { fromMs, toMs } = range;
  return [
    ...(fromMs === null ? [] : ['--since', new Date(fromMs).toISOString()]),
    ...(toMs === null ? [] : ['--until', new Date(toMs).toISOString()]),
  ];
}

/** Follows, or begins at the moment that was gone to. */
function startArgs({ isLive, timeMs, range }: LogsView): string[] {
  if (isLive) return ['--follow'];
  if (timeMs === null || range !== null) return [];
  return ['--since', new Date(timeMs).toISOString()];
}

function span(spanMs: number): string {
  const [unit, unitMs] = UNITS.find(([, length]) => spanMs % length === 0) ?? ['ms', 1];
  return `${spanMs / unitMs}${unit}`;
}

function quote(word: string): string {
  return UNQUOTED.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
