import { parseSpan } from '@porthole/contract';
import { canHaveLabels } from './source-text.ts';
import { canFollow } from './time-range.ts';
import { ALL_LOGS, type LogsView, type NodeView, nodeView, type View } from './view.ts';
import { type Fields, PAGES, type ParameterChecks, RANGE, readFields, writeFields } from './view-fields.ts';

/* The URL of each view. */

/** The pages with a path of their own. */
const PATHED = ['overview', 'incidents', 'nodes', 'config', 'logs'] as const satisfies (keyof typeof PAGES)[];

function pagePath(page: (typeof PATHED)[number]): string {
  return page === 'overview' ? '/' : `/${page}`;
}

/** Tabs of the page of a node by the last part of the path; the overview has none. */
const TABS: Readonly<Record<string, NodeView['tab']>> = { config: 'config', logs: 'logs' };

/** The fields of a view; of the parts of a node's page only the configuration has a shape. */
function fieldsOf(view: Exclude<View, { page: 'unknown' }>): Fields {
  if (view.page !== 'node' || view.tab === 'config') return PAGES[view.page];
  const { text, range } = PAGES.node;
  return { text, range };
}

/** The view of a URL. Never throws: invalid parts are ignored, and `addressProblems` names them. */
export function parseView({ pathname, searchParams: query }: URL): View {
  const path = withoutBase(pathname)?.replace(/(?<=.)\/$/, '') ?? '';
  const page = PATHED.find((own) => pagePath(own) === path);
  if (page) return { page, ...readFields<Fields>(PAGES[page], query) } as View;
  const [, first, encoded, last, ...rest] = path.split('/');
  const id = decoded(encoded).replace(/^~(?=\.{1,2}$)/, '');
  const tab = last === undefined ? 'overview' : Object.hasOwn(TABS, last) && TABS[last];
  if (first !== 'nodes' || !id || !tab || rest.length > 0) return { page: 'unknown', path: pathname };
  const view = nodeView(id, tab);
  return { ...view, ...readFields(fieldsOf(view), query) };
}

/** Path and query of a view. Defaults are omitted. */
export function viewUrl(view: View): string {
  if (view.page === 'unknown') return view.path;
  // These are valid in a query and common in log text: keep them readable.
  const text = writeFields(fieldsOf(view), { ...view })
    .toString()
    .replace(/%2F|%3A|%3D|%2C/g, decodeURIComponent);
  const path = view.page === 'node' ? nodePath(view) : pagePath(view.page);
  return linkTo(text ? `${path}?${text}` : path);
}

/** The parts of a URL that `parseView` ignores, as sentences. */
export function addressProblems(url: URL): string[] {
  const view = parseView(url);
  if (view.page === 'logs') return logsProblems(url.searchParams);
  return view.page === 'unknown' ? [] : queryProblems(url.searchParams, fieldsOf(view));
}

export function parseLogs(query: URLSearchParams): LogsView {
  return { ...ALL_LOGS, ...readFields(PAGES.logs, query) };
}

export function logsQuery(view: LogsView): URLSearchParams {
  return writeFields(PAGES.logs, view);
}

/** The parameters that `parseLogs` ignores, as sentences. */
export function logsProblems(query: URLSearchParams): string[] {
  const problems = queryProblems(query, PAGES.logs);
  if (parseSpan(query.get('last') ?? '') && (query.has('from') || query.has('to')))
    problems.push('from and to are ignored because last is set');
  const range = RANGE.read(query);
  if (range?.kind === 'fixed' && range.fromMs !== null && range.toMs !== null && range.fromMs >= range.toMs)
    // absence: an error of the address, nothing was read
    problems.push('the time range is empty: from is not before to');
  if (query.get('live') === '1' && !canFollow(range)) problems.push('live=1 is ignored: the time range has an end');
  const view = parseLogs(query);
  if (view.labels.length > 0 && !canHaveLabels(view.sources))
    problems.push('label is ignored: src names different logs of several nodes');
  return problems;
}

/** Longer values are truncated. */
const SHOWN_CHARACTERS = 60;

function queryProblems(query: URLSearchParams, fields: Fields): string[] {
  const checks: ParameterChecks = Object.assign({}, ...Object.values(fields).map((own) => own.checks));
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
