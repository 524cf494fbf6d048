import { PortholeError } from '@porthole/client';
import { durationText, FILTER_ROWS, isLabelName, parseSpan, timeText } from '@porthole/contract';
import { labelProblem, parseLabels } from './labels.ts';
import { formatChoice, parseChoice } from './source-text.ts';
import {
  ALL_CONFIG,
  ALL_LOGS,
  ALL_NODES,
  type ConfigView,
  canFollow,
  INCIDENTS,
  type LogsView,
  type NodeView,
  OVERVIEW,
  type RecordKey,
  type SourceChoice,
  type TimeRange,
  type View,
} from './view.ts';

/* The URL of each view: one row for each part of a view says how it is read, written and validated. */

/** Parameters and how their values are validated; `null`: any value is valid. */
type ParameterChecks = Readonly<Record<string, ((value: string) => string | null) | null>>;

/** A part of a view in its URL. */
interface Row {
  field: string;
  read(query: URLSearchParams): unknown;
  write(query: URLSearchParams, value: never, view: never): unknown;
  checks: ParameterChecks;
}

/** The values of one parameter. What is invalid is read as if it was absent; what is usual is not written. */
interface Codec<Value> {
  read(values: readonly string[]): Value;
  write(value: Value): readonly string[];
  problem: ((value: string) => string | null) | null;
}

function row<Value>(field: string, name: string, { read, write, problem }: Codec<Value>): Row {
  return {
    field,
    read: (query) => read(query.getAll(name)),
    write: (query, value: Value) => {
      for (const text of write(value)) query.append(name, text);
    },
    checks: { [name]: problem },
  };
}

const TEXT: Codec<string> = { read: ([text = '']) => text, write: (text) => (text ? [text] : []), problem: null };

const NAME: Codec<string | null> = {
  read: ([name]) => name || null,
  write: (name) => (name ? [name] : []),
  problem: null,
};

const NAMES: Codec<readonly string[]> = {
  read: ([text = '']) => parseFieldNames(text),
  write: (names) => (names.length > 0 ? [formatFieldNames(names)] : []),
  problem: fieldNamesProblem,
};

const ONE: Codec<boolean> = {
  read: ([text]) => text === '1',
  write: (isOn) => (isOn ? ['1'] : []),
  problem: (text) => (text === '1' ? null : 'expected 1'),
};

function switchRow(field: keyof LogsView, name: string): Row {
  const usual = ALL_LOGS[field] === true;
  return row<boolean>(field, name, {
    read: ([text]) => flag(text, usual),
    write: (isOn) => (isOn === usual ? [] : [isOn ? '1' : '0']),
    problem: expectedSwitch,
  });
}

function flag(text: string | null | undefined, fallback: boolean): boolean {
  return text === '1' ? true : text === '0' ? false : fallback;
}

function expectedSwitch(value: string): string | null {
  return value === '0' || value === '1' ? null : 'expected 0 or 1';
}

function choice<Value extends string>(...choices: readonly Value[]): Codec<Value | undefined> {
  return {
    read: ([text]) => choices.find((own) => own === text),
    write: (chosen) => (chosen ? [chosen] : []),
    problem: (text) =>
      choices.some((own) => own === text) ? null : `expected ${choices.join(', ')}`.replace(/,([^,]*)$/, ' or$1'),
  };
}

type FilterRow = (typeof FILTER_ROWS)[number];

/** A filter of the API. Without a zone a time is UTC: a URL means the same everywhere. */
function filter<Value extends string | number>(field: FilterRow['field']): Codec<Value | null> {
  const codec = FILTER_ROWS.find((own) => own.field === field)?.codec as FilterRow['codec'];
  const parse = (text: string): { value?: unknown; problem?: string } => {
    try {
      return { value: codec.parse([text], field, { clock: { nowMs: Date.now(), offsetMsAt: () => 0 } }) };
    } catch (error) {
      if (!(error instanceof PortholeError)) throw error;
      // The name and the value are shown in front of it.
      return { problem: error.message.slice(error.message.lastIndexOf(': ') + 2) };
    }
  };
  return {
    read: ([text = '']) => (parse(text).value ?? null) as Value | null,
    write: (value) =>
      value === null ? [] : typeof value === 'number' ? [timestampText(value)] : codec.encode(value as never),
    problem: (text) => parse(text).problem ?? null,
  };
}

function timestampText(timeMs: number): string {
  const text = new Date(timeMs).toISOString();
  // Years of more than four digits are not part of the grammar.
  return text.length === 24 ? text : timeText(timeMs);
}

const FROM = filter<number>('fromMs');
const TO = filter<number>('toMs');

const RANGE: Row = {
  field: 'range',
  read: parseRange,
  write(query, range: TimeRange | null) {
    if (range?.kind === 'last') query.set('last', durationText(range.spanMs));
    if (range?.kind !== 'fixed') return;
    if (range.fromMs !== null) query.set('from', timestampText(range.fromMs));
    else if (range.toMs === null) query.set('from', '');
    if (range.toMs !== null) query.set('to', timestampText(range.toMs));
  },
  checks: {
    last: (text) => (parseSpan(text) ? null : 'expected a span such as 15m or 2h'),
    from: FROM.problem,
    to: TO.problem,
  },
};

function parseRange(query: URLSearchParams): TimeRange | null {
  const spanMs = parseSpan(query.get('last') ?? '');
  if (spanMs) return { kind: 'last', spanMs };
  const [fromMs, toMs] = [FROM.read(query.getAll('from')), TO.read(query.getAll('to'))];
  // `from=` alone is a range that is open at both ends.
  if (fromMs === null && toMs === null && query.get('from') !== '') return null;
  return { kind: 'fixed', fromMs, toMs };
}

const LABELS = row<readonly string[]>('labels', 'label', {
  read: parseLabels,
  write: (labels) => labels,
  problem: labelProblem,
});

const BY = row<string | null>('by', 'by', {
  ...NAME,
  read: ([name = '']) => (isLabelName(name) ? name : null),
  problem: (name) => (isLabelName(name) ? null : 'expected the name of a label like zone'),
});

const SEARCH = row('text', 'q', TEXT);

const SHAPE = row('shape', 'as', choice('start', 'source'));

/** Parameters that only a comparison has. */
const COMPARE_NAMES = ['role', 'label', 'by', 'in', 'left', 'right', 'expected'];

const TAB = choice('history', 'compare', 'text');

/** The part of the page that the other parameters are about. */
function usualTab(query: URLSearchParams): ConfigView['tab'] {
  if (COMPARE_NAMES.some((name) => query.has(name))) return 'compare';
  return query.has('as') ? 'text' : 'history';
}

const SOURCES: Codec<readonly SourceChoice[]> = {
  read: (texts) => texts.flatMap((text) => parseChoice(text) ?? []),
  write: (sources) => sources.map(formatChoice),
  problem: (text) => (parseChoice(text) ? null : 'expected NODE, NODE/FAMILY or NODE/=FILE'),
};

const TERM = filter<string>('excluded');

/** Ids of nodes contain no slash. */
const RECORD: Codec<RecordKey | null> = {
  read: ([text = '']) => {
    const [, node, cursor] = /^([^/]+)\/(.+)$/s.exec(text) ?? [];
    return node && cursor ? { node, cursor } : null;
  },
  write: (at) => (at ? [`${at.node}/${at.cursor}`] : []),
  problem: (text) => (RECORD.read([text]) ? null : 'this link is damaged'),
};

const [TIME, AT] = [row('timeMs', 't', FROM), row('at', 'at', RECORD)];

/** A link to a record or a time is for reading; any other link follows. */
function isUsuallyLive({ at, timeMs, range }: Pick<LogsView, 'at' | 'timeMs' | 'range'>): boolean {
  return at === null && timeMs === null && range?.kind !== 'fixed';
}

/** The pages with a path of their own. Rows are written in this order. */
const PAGES = {
  overview: { path: '/', base: OVERVIEW, rows: [LABELS, BY, RANGE] },
  incidents: { path: '/incidents', base: INCIDENTS, rows: [LABELS, RANGE] },
  nodes: { path: '/nodes', base: ALL_NODES, rows: [LABELS, BY, SEARCH, RANGE] },
  config: {
    path: '/config',
    base: ALL_CONFIG,
    rows: [
      ...[LABELS, BY],
      row<string | null>('group', 'in', {
        ...NAME,
        read: ([group = null]) => group,
        write: (group) => (group === null ? [] : [group]),
      }),
      ...[row('role', 'role', NAME), row('left', 'left', NAME), row('right', 'right', NAME), SEARCH],
      ...[row('showExpected', 'expected', ONE), SHAPE],
      {
        field: 'tab',
        read: (query) => TAB.read(query.getAll('tab')) ?? usualTab(query),
        write: (query, tab: ConfigView['tab']) => tab === usualTab(query) || query.set('tab', tab),
        checks: { tab: TAB.problem },
      },
      ...[row('node', 'node', NAME), row('atMs', 't', FROM), row('isSplit', 'split', ONE)],
    ],
  },
  logs: {
    path: '/logs',
    base: ALL_LOGS,
    rows: [
      ...[row('sources', 'src', SOURCES), LABELS, RANGE, row('minLevel', 'level', filter('minLevel'))],
      // The query box shows what is wrong with it.
      ...[row('query', 'query', TEXT), SEARCH],
      row<readonly string[]>('excluded', 'not', {
        ...TERM,
        read: (texts) => texts.flatMap((text) => TERM.read([text]) ?? []),
        write: (texts) => texts,
      }),
      ...[row('callSite', 'site', filter('source')), row('component', 'tag', filter('component'))],
      ...[row('columns', 'columns', NAMES), row('countedBy', 'by', NAMES)],
      row<string | null>('splitBy', 'split', {
        ...NAMES,
        read: ([text = '']) => parseFieldNames(text)[0] ?? null,
        write: (name) => (name === null ? [] : [formatFieldNames([name])]),
      }),
      ...[switchRow('isRegex', 're'), switchRow('isCaseSensitive', 'case'), switchRow('isOnlyMatches', 'only')],
      ...[switchRow('isWrapped', 'wrap'), switchRow('isPlain', 'plain')],
      ...[switchRow('hasHistogram', 'chart'), switchRow('hasFields', 'fields'), TIME, AT],
      {
        field: 'isLive',
        read(query) {
          const range = parseRange(query);
          const usual = isUsuallyLive({ ...readRows<LogsView>([TIME, AT], query), range });
          return canFollow(range) && flag(query.get('live'), usual);
        },
        write: (query, isLive: boolean, view: LogsView) =>
          isLive === isUsuallyLive(view) || query.set('live', isLive ? '1' : '0'),
        checks: { live: expectedSwitch },
      },
    ],
  },
} as const satisfies Record<string, { path: string; base: View; rows: readonly Row[] }>;

/** Tabs of the page of a node by the last part of the path; the overview has none. */
const TABS: Readonly<Record<string, NodeView['tab']>> = { config: 'config', logs: 'logs' };

function nodeRows({ tab }: Pick<NodeView, 'tab'>): readonly Row[] {
  return [SEARCH, ...(tab === 'config' ? [SHAPE] : []), RANGE];
}

function rowsOf(view: Exclude<View, { page: 'unknown' }>): readonly Row[] {
  return view.page === 'node' ? nodeRows(view) : PAGES[view.page].rows;
}

function readRows<Shown>(rows: readonly Row[], query: URLSearchParams): Shown {
  return Object.fromEntries(rows.map(({ field, read }) => [field, read(query)])) as Shown;
}

function writeRows(rows: readonly Row[], view: object): URLSearchParams {
  const query = new URLSearchParams();
  for (const { field, write } of rows) write(query, (view as Record<string, unknown>)[field] as never, view as never);
  return query;
}

/** The view of a URL. Never throws: invalid parts are ignored, and `addressProblems` names them. */
export function parseView({ pathname, searchParams: query }: URL): View {
  const path = withoutBase(pathname)?.replace(/(?<=.)\/$/, '');
  const page = Object.values(PAGES).find((own) => own.path === path);
  if (page) return { ...page.base, ...readRows(page.rows, query) } as View;
  const [, first, encoded, last, ...rest] = path?.split('/') ?? [];
  const id = decoded(encoded).replace(/^~(?=\.{1,2}$)/, '');
  const tab = last === undefined ? 'overview' : Object.hasOwn(TABS, last) && TABS[last];
  if (first !== 'nodes' || !id || !tab || rest.length > 0) return { page: 'unknown', path: pathname };
  return { page: 'node', id, tab, ...readRows<Pick<NodeView, 'text' | 'range'>>(nodeRows({ tab }), query) };
}

/** Path and query of a view. Defaults are omitted. */
export function viewUrl(view: View): string {
  if (view.page === 'unknown') return view.path;
  const path = view.page === 'node' ? nodePath(view) : PAGES[view.page].path;
  // These are valid in a query and common in log text: keep them readable.
  const text = writeRows(rowsOf(view), view)
    .toString()
    .replace(/%2F|%3A|%3D|%2C/g, decodeURIComponent);
  return linkTo(text ? `${path}?${text}` : path);
}

/** The parts of a URL that `parseView` ignores, as sentences. */
export function addressProblems(url: URL): string[] {
  const view = parseView(url);
  if (view.page === 'logs') return logsProblems(url.searchParams);
  return view.page === 'unknown' ? [] : queryProblems(url.searchParams, rowsOf(view));
}

export function parseLogs(query: URLSearchParams): LogsView {
  return { ...ALL_LOGS, ...readRows<Partial<LogsView>>(PAGES.logs.rows, query) };
}

export function logsQuery(view: LogsView): URLSearchParams {
  return writeRows(PAGES.logs.rows, view);
}

/** The parameters that `parseLogs` ignores, as sentences. */
export function logsProblems(query: URLSearchParams): string[] {
  const problems = queryProblems(query, PAGES.logs.rows);
  if (parseSpan(query.get('last') ?? '') && (query.has('from') || query.has('to')))
    problems.push('from and to are ignored because last is set');
  const range = parseRange(query);
  if (range?.kind === 'fixed' && range.fromMs !== null && range.toMs !== null && range.fromMs >= range.toMs)
    // absence: an error of the address, nothing was read
    problems.push('the time range is empty: from is not before to');
  if (query.get('live') === '1' && !canFollow(range)) problems.push('live=1 is ignored: the time range has an end');
  return problems;
}

/** Longer values are truncated. */
const SHOWN_CHARACTERS = 60;

function queryProblems(query: URLSearchParams, rows: readonly Row[]): string[] {
  const checks: ParameterChecks = Object.assign({}, ...rows.map((own) => own.checks));
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

function nodePath({ id, tab }: NodeView): string {
  // A path cannot have `.` and `..` as parts; no id has a `~`.
  const part = /^\.{1,2}$/.test(id) ? `~${id}` : encodeURIComponent(id).replaceAll('%3A', ':');
  return tab === 'overview' ? `/nodes/${part}` : `/nodes/${part}/${tab}`;
}

function decoded(part = ''): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return '';
    throw error;
  }
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
