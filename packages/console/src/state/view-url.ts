import { PortholeError } from '@porthole/client';
import { durationText, FILTER_ROWS, formatSourceText, parseSourceText, parseSpan, timeText } from '@porthole/contract';
import { labelNameProblem, labelProblem, parseLabelName, parseLabels, writeLabels } from './labels.ts';
import {
  ALL_CONFIG,
  ALL_LOGS,
  type ConfigShape,
  type ConfigView,
  canFollow,
  type LogsView,
  type NodesView,
  type NodeView,
  type RecordKey,
  type TimeRange,
  type View,
} from './view.ts';

/** Tabs by the last part of the path; the overview has none. */
const TABS: Readonly<Record<string, NodeView['tab']>> = { config: 'config', logs: 'logs' };

const LABEL_CHECKS: ParameterChecks = { label: labelProblem, by: labelNameProblem };

/** The view of a URL. Never throws: invalid parts are ignored, and `addressProblems` names them. */
export function parseView(url: URL): View {
  const path = withoutBase(url.pathname)?.replace(/(?<=.)\/$/, '');
  const query = url.searchParams;
  if (path === '/') return { page: 'overview', ...parseSelection(query), range: parseRange(query) };
  if (path === '/logs') return parseLogs(query);
  if (path === '/config') return parseConfig(query);
  if (path === '/incidents') return { page: 'incidents', labels: parseLabels(query), range: parseRange(query) };
  if (path === '/nodes')
    return { page: 'nodes', ...parseSelection(query), text: query.get('q') ?? '', range: parseRange(query) };
  const node = path === undefined ? undefined : parseNode(path, query);
  return node ?? { page: 'unknown', path: url.pathname };
}

/** The parts of a URL that `parseView` ignores, as sentences. */
export function addressProblems(url: URL): string[] {
  const view = parseView(url);
  if (view.page === 'logs') return logsProblems(url.searchParams);
  return view.page === 'unknown' ? [] : queryProblems(url.searchParams, parameterChecks(view));
}

function parameterChecks(view: Exclude<View, { page: 'logs' | 'unknown' }>): ParameterChecks {
  if (view.page === 'overview') return { ...LABEL_CHECKS, ...RANGE_CHECKS };
  if (view.page === 'incidents') return { label: labelProblem, ...RANGE_CHECKS };
  if (view.page === 'nodes') return { q: null, ...LABEL_CHECKS, ...RANGE_CHECKS };
  if (view.page === 'config')
    return {
      ...{ role: null, left: null, right: null, q: null, in: null, expected: expectedOne, as: expectedShape },
      ...{ tab: expectedTab, node: null, t: filterCheck('t'), split: expectedOne },
      ...LABEL_CHECKS,
    };
  return { q: null, ...RANGE_CHECKS, ...(view.tab === 'config' && { as: expectedShape }) };
}

function expectedOne(value: string): string | null {
  return value === '1' ? null : 'expected 1';
}

function expectedShape(value: string): string | null {
  return value === 'start' || value === 'source' ? null : 'expected start or source';
}

function expectedTab(value: string): string | null {
  return /^(history|compare|text)$/.test(value) ? null : 'expected history, compare or text';
}

/** Path and query of a view. Defaults are omitted. */
export function viewUrl(view: View): string {
  switch (view.page) {
    case 'overview':
      return buildUrl('/', writeRange(selectionQuery(view), view.range));
    case 'incidents':
      return buildUrl('/incidents', writeRange(selectionQuery({ ...view, by: null }), view.range));
    case 'nodes':
      return buildUrl('/nodes', writeRange(nodesQuery(view), view.range));
    case 'logs':
      return buildUrl('/logs', logsQuery(view));
    case 'config':
      return buildUrl('/config', configQuery(view));
    case 'node':
      return buildUrl(nodePath(view), writeRange(nodeQuery(view), view.range));
    case 'unknown':
      return view.path;
  }
}

function buildUrl(path: string, query: URLSearchParams): string {
  // These are valid in a query and common in log text: keep them readable.
  const text = query.toString().replace(/%2F|%3A|%3D|%2C/g, decodeURIComponent);
  return linkTo(text ? `${path}?${text}` : path);
}

function parseNode(path: string, query: URLSearchParams): NodeView | undefined {
  const [, first, encoded, tab, ...rest] = path.split('/');
  const id = decoded(encoded);
  if (first !== 'nodes' || !id || rest.length > 0) return undefined;
  const base = { page: 'node', id: parseNodeId(id), tab: 'overview' } as const;
  const view = { ...base, text: query.get('q') ?? '', range: parseRange(query) };
  if (tab === undefined) return view;
  if (!Object.hasOwn(TABS, tab)) return undefined;
  return { ...view, tab: TABS[tab] ?? 'overview', ...(tab === 'config' && parseShape(query)) };
}

function nodeQuery({ text, shape }: NodeView): URLSearchParams {
  return new URLSearchParams({ ...(text && { q: text }), ...(shape && { as: shape }) });
}

function parseShape(query: URLSearchParams): { shape?: ConfigShape } {
  const shape = query.get('as');
  return shape === 'start' || shape === 'source' ? { shape } : {};
}

function nodePath({ id, tab }: NodeView): string {
  // A path cannot have `.` and `..` as parts; no id has a `~`.
  const part = /^\.{1,2}$/.test(id) ? `~${id}` : encodeURIComponent(id).replaceAll('%3A', ':');
  return tab === 'overview' ? `/nodes/${part}` : `/nodes/${part}/${tab}`;
}

function parseNodeId(part: string): string {
  return part.replace(/^~(?=\.{1,2}$)/, '');
}

function decoded(part = ''): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return '';
    throw error;
  }
}

function parseSelection(query: URLSearchParams): Pick<NodesView, 'labels' | 'by'> {
  return { labels: parseLabels(query), by: parseLabelName(query.get('by')) };
}

function nodesQuery(view: NodesView): URLSearchParams {
  const query = selectionQuery(view);
  if (view.text) query.set('q', view.text);
  return query;
}

function selectionQuery({ labels, by }: Pick<NodesView, 'labels' | 'by'>): URLSearchParams {
  const query = new URLSearchParams();
  writeLabels(query, labels);
  if (by !== null) query.set('by', by);
  return query;
}

/** Parameters that only a comparison has. */
const COMPARE_NAMES = ['role', 'label', 'by', 'in', 'left', 'right', 'expected'];

/** The part of the page that these parameters are about. */
function usualTab(query: URLSearchParams): ConfigView['tab'] {
  if (COMPARE_NAMES.some((name) => query.has(name))) return 'compare';
  return query.has('as') ? 'text' : 'history';
}

function parseConfig(query: URLSearchParams): ConfigView {
  const tab = query.get('tab') ?? '';
  return {
    ...ALL_CONFIG,
    tab: expectedTab(tab) === null ? (tab as ConfigView['tab']) : usualTab(query),
    node: query.get('node') || null,
    atMs: parseFilter('t', query) ?? null,
    isSplit: query.get('split') === '1',
    role: query.get('role') || null,
    labels: parseLabels(query),
    by: parseLabelName(query.get('by')),
    group: query.get('in'),
    left: query.get('left') || null,
    right: query.get('right') || null,
    text: query.get('q') ?? '',
    showExpected: query.get('expected') === '1',
    ...parseShape(query),
  };
}

function configQuery(view: ConfigView): URLSearchParams {
  const { role, left, right, text, showExpected, shape, ...nodes } = view;
  const query = selectionQuery(nodes);
  if (nodes.group !== null) query.set('in', nodes.group);
  if (role) query.set('role', role);
  if (left) query.set('left', left);
  if (right) query.set('right', right);
  if (text) query.set('q', text);
  if (showExpected) query.set('expected', '1');
  if (shape) query.set('as', shape);
  if (view.tab !== usualTab(query)) query.set('tab', view.tab);
  if (view.node) query.set('node', view.node);
  if (view.atMs !== null) query.set('t', timestampText(view.atMs));
  if (view.isSplit) query.set('split', '1');
  return query;
}

type FilterRow = (typeof FILTER_ROWS)[number];

/** Filters of this page that are those of the API: their names here, and their fields there. */
const FILTERS = {
  level: filterRow('minLevel'),
  not: filterRow('excluded'),
  site: filterRow('source'),
  tag: filterRow('component'),
  from: filterRow('fromMs'),
  to: filterRow('toMs'),
  t: filterRow('fromMs'),
} as const;

type FilterName = keyof typeof FILTERS;

/** Switches of the view and the parameters that change their default. */
const SWITCHES = {
  isRegex: 're',
  isCaseSensitive: 'case',
  isOnlyMatches: 'only',
  isWrapped: 'wrap',
  isPlain: 'plain',
  hasHistogram: 'chart',
  hasFields: 'fields',
} as const satisfies Partial<Record<keyof LogsView, string>>;

const SWITCH_NAMES = Object.keys(SWITCHES) as (keyof typeof SWITCHES)[];

/** Longer values are truncated. */
const SHOWN_CHARACTERS = 60;

/** Parameters of a page and how their values are validated; `null`: any value is valid. */
type ParameterChecks = Readonly<Record<string, ((value: string) => string | null) | null>>;

/** The log view of a query. Invalid parameters are ignored; `logsProblems` names them. */
export function parseLogs(query: URLSearchParams): LogsView {
  const at = parseKey(query.get('at'));
  const timeMs = parseFilter('t', query) ?? null;
  const range = parseRange(query);
  const switches = SWITCH_NAMES.map((name) => [name, flag(query.get(SWITCHES[name]), ALL_LOGS[name])]);
  return {
    ...ALL_LOGS,
    ...(Object.fromEntries(switches) as Pick<LogsView, keyof typeof SWITCHES>),
    sources: query.getAll('src').flatMap((text) => parseSourceText(text) ?? []),
    labels: parseLabels(query),
    range,
    minLevel: parseFilter('level', query) ?? null,
    query: query.get('query') ?? '',
    text: query.get('q') ?? '',
    excluded: query.getAll('not').flatMap((text) => parseFilter('not', text) ?? []),
    callSite: parseFilter('site', query) ?? null,
    component: parseFilter('tag', query) ?? null,
    columns: parseFieldNames(query.get('columns') ?? ''),
    countedBy: parseFieldNames(query.get('by') ?? ''),
    splitBy: parseFieldNames(query.get('split') ?? '')[0] ?? null,
    at,
    timeMs,
    isLive: canFollow(range) && flag(query.get('live'), isUsuallyLive({ at, timeMs, range })),
  };
}

/** Parameters of the time range. */
const RANGE_CHECKS: ParameterChecks = {
  last: (value) => (parseSpan(value) ? null : 'expected a span such as 15m or 2h'),
  from: filterCheck('from'),
  to: filterCheck('to'),
};

/** Parameters of the log view and how their values are validated; `null`: any value is valid. */
const CHECKS: ParameterChecks = {
  src: (value) => (parseSourceText(value) ? null : 'expected NODE, NODE/FAMILY or NODE/=FILE'),
  label: labelProblem,
  last: RANGE_CHECKS.last ?? null,
  at: (value) => (parseKey(value) ? null : 'this link is damaged'),
  // The query box shows what is wrong with it.
  query: null,
  q: null,
  columns: fieldNamesProblem,
  by: fieldNamesProblem,
  split: fieldNamesProblem,
  ...Object.fromEntries((Object.keys(FILTERS) as FilterName[]).map((name) => [name, filterCheck(name)])),
  live: expectedSwitch,
  ...Object.fromEntries(Object.values(SWITCHES).map((name) => [name, expectedSwitch])),
};

/** The parameters that `parseLogs` ignores, as sentences. */
export function logsProblems(query: URLSearchParams): string[] {
  const problems = queryProblems(query, CHECKS);
  if (parseSpan(query.get('last') ?? '') && (query.has('from') || query.has('to')))
    problems.push('from and to are ignored because last is set');
  const range = parseRange(query);
  if (range?.kind === 'fixed' && range.fromMs !== null && range.toMs !== null && range.fromMs >= range.toMs)
    problems.push('the time range is empty: from is not before to');
  if (query.get('live') === '1' && !canFollow(range)) problems.push('live=1 is ignored: the time range has an end');
  return problems;
}

export function logsQuery(view: LogsView): URLSearchParams {
  const query = new URLSearchParams();
  for (const source of view.sources) query.append('src', formatSourceText(source));
  writeLabels(query, view.labels);
  writeRange(query, view.range);
  if (view.minLevel) query.set('level', String(FILTERS.level.codec.encode(view.minLevel)));
  if (view.query) query.set('query', view.query);
  if (view.text) query.set('q', view.text);
  for (const text of view.excluded) query.append('not', text);
  if (view.callSite) query.set('site', view.callSite);
  if (view.component) query.set('tag', view.component);
  if (view.columns.length > 0) query.set('columns', formatFieldNames(view.columns));
  if (view.countedBy.length > 0) query.set('by', formatFieldNames(view.countedBy));
  if (view.splitBy !== null) query.set('split', formatFieldNames([view.splitBy]));
  for (const name of SWITCH_NAMES) if (view[name] !== ALL_LOGS[name]) query.set(SWITCHES[name], view[name] ? '1' : '0');
  if (view.timeMs !== null) query.set('t', timestampText(view.timeMs));
  if (view.at) query.set('at', `${view.at.node}/${view.at.cursor}`);
  if (view.isLive !== isUsuallyLive(view)) query.set('live', view.isLive ? '1' : '0');
  return query;
}

/** A link to a record or a time is for reading; any other link follows. */
function isUsuallyLive({ at, timeMs, range }: Pick<LogsView, 'at' | 'timeMs' | 'range'>): boolean {
  return at === null && timeMs === null && range?.kind !== 'fixed';
}

function filterRow<Field extends FilterRow['field']>(field: Field): Extract<FilterRow, { field: Field }> {
  return FILTER_ROWS.find((row) => row.field === field) as Extract<FilterRow, { field: Field }>;
}

type FilterValue<Name extends FilterName> = ReturnType<(typeof FILTERS)[Name]['codec']['parse']>;

/** The value, or what is wrong with it, as the API says it. Without a zone a time is UTC: a URL means the same everywhere. */
function readFilter<Name extends FilterName>(
  name: Name,
  text: string,
): { value?: FilterValue<Name>; problem?: string } {
  const clock = { nowMs: Date.now(), offsetMsAt: () => 0 };
  try {
    return { value: FILTERS[name].codec.parse([text], name, { clock }) as FilterValue<Name> };
  } catch (error) {
    if (!(error instanceof PortholeError)) throw error;
    // The name and the value are shown in front of it.
    return { problem: error.message.slice(error.message.lastIndexOf(': ') + 2) };
  }
}

/** `undefined` if it is absent or invalid. Takes the first of a repeated parameter. */
function parseFilter<Name extends FilterName>(name: Name, from: URLSearchParams | string) {
  return readFilter(name, typeof from === 'string' ? from : (from.get(name) ?? '')).value;
}

function filterCheck(name: FilterName): (value: string) => string | null {
  return (value) => readFilter(name, value).problem ?? null;
}

function expectedSwitch(value: string): string | null {
  return value === '0' || value === '1' ? null : 'expected 0 or 1';
}

function flag(text: string | null, fallback: boolean): boolean {
  return text === '1' ? true : text === '0' ? false : fallback;
}

/** Ids contain no slash. */
function parseKey(text: string | null): RecordKey | null {
  const [, node, cursor] = /^([^/]+)\/(.+)$/s.exec(text ?? '') ?? [];
  return node && cursor ? { node, cursor } : null;
}

function parseRange(query: URLSearchParams): TimeRange | null {
  const spanMs = parseSpan(query.get('last') ?? '');
  if (spanMs) return { kind: 'last', spanMs };
  const [fromMs = null, toMs = null] = [parseFilter('from', query), parseFilter('to', query)];
  // `from=` alone is a range that is open at both ends.
  if (fromMs === null && toMs === null && query.get('from') !== '') return null;
  return { kind: 'fixed', fromMs, toMs };
}

function writeRange(query: URLSearchParams, range: TimeRange | null): URLSearchParams {
  if (range?.kind === 'last') query.set('last', durationText(range.spanMs));
  if (range?.kind !== 'fixed') return query;
  if (range.fromMs !== null) query.set('from', timestampText(range.fromMs));
  else if (range.toMs === null) query.set('from', '');
  if (range.toMs !== null) query.set('to', timestampText(range.toMs));
  return query;
}

function timestampText(timeMs: number): string {
  const text = new Date(timeMs).toISOString();
  // Years of more than four digits are not part of the grammar.
  return text.length === 24 ? text : timeText(timeMs);
}

/** The parameters that a page ignores, as sentences. */
function queryProblems(query: URLSearchParams, checks: ParameterChecks): string[] {
  const problems = [...query].map(([name, value]) => {
    if (!Object.hasOwn(checks, name)) return `${shown(name)} is not a parameter of this page`;
    const why = checks[name]?.(value) ?? null;
    return why === null ? null : `${name}=${shown(value)} is ignored: ${why}`;
  });
  return [...new Set(problems.filter((problem) => problem !== null))];
}

function shown(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

/* Lists of fields in a URL: separated by commas; a comma or backslash in a name has a backslash in front. */

/** As many as have room beside the message. */
export const MAX_FIELD_NAMES = 12;

const MAX_FIELD_CHARACTERS = 256;

/** The names of a list, each once. */
export function parseFieldNames(text: string): string[] {
  const valid = splitNames(text).filter((name) => name !== '' && name.length <= MAX_FIELD_CHARACTERS);
  return [...new Set(valid)].slice(0, MAX_FIELD_NAMES);
}

function splitNames(text: string): string[] {
  const names = [''];
  for (const [part] of text.matchAll(/\\[\\,]|[\s\S]/g)) {
    if (part === ',') names.push('');
    else names[names.length - 1] += part.length === 2 ? part.slice(1) : part;
  }
  return names;
}

export function formatFieldNames(names: readonly string[]): string {
  return names.map((name) => name.replace(/[\\,]/g, '\\$&')).join(',');
}

/** What is wrong with a list, or `null`. */
export function fieldNamesProblem(text: string): string | null {
  if (splitNames(text).length === parseFieldNames(text).length) return null;
  return `expected at most ${MAX_FIELD_NAMES} different names of fields, separated by commas`;
}

/** The list with a name added at its end, or without it if it is there. */
export function toggleName(names: readonly string[], name: string): string[] {
  return names.includes(name) ? names.filter((other) => other !== name) : [...names, name].slice(-MAX_FIELD_NAMES);
}

/** The list with a name moved by some places, as far as there are any. */
export function moveName(names: readonly string[], name: string, by: -1 | 1): string[] {
  const from = names.indexOf(name);
  const to = from + by;
  if (from < 0 || to < 0 || to >= names.length) return [...names];
  return names.with(from, names[to] ?? name).with(to, name);
}

/** Where the node puts the path that this console is served below. */
const META = 'meta[name="porthole-base"]';

/** The page; tests and tools that only build links have none. */
const { document: page } = globalThis as unknown as {
  document?: { querySelector(selector: string): { content?: string } | null };
};

/** The path this console is served below, without a slash at the end: `/ops`. Empty at the root of the server. */
const BASE_PATH = page?.querySelector(META)?.content ?? '';

/** A path of the node as a link of this page. */
export function linkTo(path: string): string {
  return BASE_PATH + path;
}

/** The URL of the node, as clients need it. */
export function nodeUrl({ origin }: { origin: string }): string {
  return origin + BASE_PATH;
}

/** A path of this server as a path of the node; `undefined` if it is outside the node. */
export function withoutBase(path: string, base: string = BASE_PATH): string | undefined {
  if (path === base) return '/';
  return path.startsWith(`${base}/`) ? path.slice(base.length) : undefined;
}
