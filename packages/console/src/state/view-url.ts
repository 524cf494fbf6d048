import { linkTo, withoutBase } from './base-path.ts';
import { labelNameProblem, labelProblem, parseLabelName, parseLabels, writeLabels } from './labels.ts';
import { logsProblems, logsQuery, type ParameterChecks, parseLogs, queryProblems } from './logs-url.ts';
import { ALL_CONFIG, type ClusterView, type ConfigShape, type ConfigView, type NodeView, type View } from './view.ts';

/** Tabs by the last part of the path; the overview has none. */
const TABS: Readonly<Record<string, NodeView['tab']>> = { config: 'config', logs: 'logs' };

const LABEL_CHECKS: ParameterChecks = { label: labelProblem, by: labelNameProblem };

/** The view of a URL. Never throws: invalid parts are ignored, and `addressProblems` names them. */
export function parseView(url: URL): View {
  const path = withoutBase(url.pathname)?.replace(/(?<=.)\/$/, '');
  if (path === '/') return parseCluster(url.searchParams);
  if (path === '/logs') return parseLogs(url.searchParams);
  if (path === '/config') return parseConfig(url.searchParams);
  const node = path === undefined ? undefined : parseNode(path, url.searchParams);
  return node ?? { page: 'unknown', path: url.pathname };
}

/** The parts of a URL that `parseView` ignores, as sentences. */
export function addressProblems(url: URL): string[] {
  const view = parseView(url);
  if (view.page === 'logs') return logsProblems(url.searchParams);
  return view.page === 'unknown' ? [] : queryProblems(url.searchParams, parameterChecks(view));
}

function parameterChecks(view: Exclude<View, { page: 'logs' | 'unknown' }>): ParameterChecks {
  if (view.page === 'cluster') return LABEL_CHECKS;
  if (view.page === 'config')
    return {
      ...{ role: null, left: null, right: null, q: null, in: null, expected: expectedOne, as: expectedShape },
      ...LABEL_CHECKS,
    };
  return { q: null, ...(view.tab === 'config' && { as: expectedShape }) };
}

function expectedOne(value: string): string | null {
  return value === '1' ? null : 'expected 1';
}

function expectedShape(value: string): string | null {
  return value === 'table' || value === 'start' ? null : 'expected table or start';
}

/** Path and query of a view. Defaults are omitted. */
export function viewUrl(view: View): string {
  switch (view.page) {
    case 'cluster':
      return buildUrl('/', clusterQuery(view));
    case 'logs':
      return buildUrl('/logs', logsQuery(view));
    case 'config':
      return buildUrl('/config', configQuery(view));
    case 'node':
      return buildUrl(nodePath(view), nodeQuery(view));
    case 'unknown':
      return view.path;
  }
}

function buildUrl(path: string, query: URLSearchParams): string {
  // These are valid in a query and common in log text: keep them readable.
  const text = query
    .toString()
    .replaceAll('%2F', '/')
    .replaceAll('%3A', ':')
    .replaceAll('%3D', '=')
    .replaceAll('%2C', ',');
  return linkTo(text ? `${path}?${text}` : path);
}

function parseNode(path: string, query: URLSearchParams): NodeView | undefined {
  const [, first, encoded, tab, ...rest] = path.split('/');
  const id = decoded(encoded);
  if (first !== 'nodes' || !id || rest.length > 0) return undefined;
  const view = { page: 'node', id: parseNodeId(id), tab: 'overview', text: query.get('q') ?? '' } as const;
  if (tab === undefined) return view;
  if (!Object.hasOwn(TABS, tab)) return undefined;
  return { ...view, tab: TABS[tab] ?? 'overview', ...(tab === 'config' && parseShape(query)) };
}

function nodeQuery({ text, shape }: NodeView): URLSearchParams {
  return new URLSearchParams({ ...(text && { q: text }), ...(shape && { as: shape }) });
}

function parseShape(query: URLSearchParams): { shape?: ConfigShape } {
  const shape = query.get('as');
  return shape === 'table' || shape === 'start' ? { shape } : {};
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

function parseCluster(query: URLSearchParams): ClusterView {
  return { page: 'cluster', labels: parseLabels(query), by: parseLabelName(query.get('by')) };
}

function clusterQuery({ labels, by }: Pick<ClusterView, 'labels' | 'by'>): URLSearchParams {
  const query = new URLSearchParams();
  writeLabels(query, labels);
  if (by !== null) query.set('by', by);
  return query;
}

function parseConfig(query: URLSearchParams): ConfigView {
  return {
    ...ALL_CONFIG,
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

function configQuery({ role, left, right, text, showExpected, shape, ...nodes }: ConfigView): URLSearchParams {
  const query = clusterQuery(nodes);
  if (nodes.group !== null) query.set('in', nodes.group);
  if (role) query.set('role', role);
  if (left) query.set('left', left);
  if (right) query.set('right', right);
  if (text) query.set('q', text);
  if (showExpected) query.set('expected', '1');
  if (shape) query.set('as', shape);
  return query;
}
