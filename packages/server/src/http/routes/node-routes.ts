import {
  type ClientSession,
  decodeViewName,
  explainQuery,
  formatQuery,
  type NodeState,
  PortholeError,
  parseConfigRequest,
  parseExplainRequest,
  parseMemberSelection,
  parseViewBody,
  type Readiness,
} from '@porthole/contract';
import { ANONYMOUS } from '../../auth/identity.ts';
import type { Health } from '../../health.ts';
import type { NodeMetrics } from '../../metrics/metrics.ts';
import type { SavedViewStore } from '../../views/saved-views.ts';
import { type ConsoleFiles, consoleResponse } from '../response/console-files.ts';
import {
  callOptions,
  jsonResponse,
  RepeatedJson,
  type RouteHandler,
  type RouteResponse,
  type SubrequestHandler,
  type SubrequestSource,
  textResponse,
} from '../response/route-response.ts';
import type { Scope } from './scope.ts';

type StateRouteId = 'config' | 'settings' | 'node';

/** Identity and configuration of a node. */
export function createStateRoutes(
  node: NodeState,
  scope: Scope,
  toOptions = callOptions,
): Record<StateRouteId, RouteHandler> {
  const configs = new RepeatedJson();
  return {
    config: async (request) => {
      const { format } = parseConfigRequest(request.query);
      if (format === 'toml') return configs.response(await node.config(toOptions(request)));
      return jsonResponse(await node.config({ ...callOptions(request), format }));
    },
    settings: async (request) => {
      const { state, asked } = await scope.records(request, parseMemberSelection(request.query));
      return jsonResponse(await state.config(asked, callOptions(request)));
    },
    node: async (request) => jsonResponse(await node.describe(toOptions(request))),
  };
}

type ViewRouteId = 'session' | 'views' | 'viewSave' | 'viewDelete';

/** Who sends requests, and the views they have saved: the only thing that the interface lets them change. */
export function createViewRoutes(store: SavedViewStore | undefined): Record<ViewRouteId, RouteHandler> {
  const views = () => {
    if (!store) throw new PortholeError('NOT_SUPPORTED', 'this node keeps no views');
    return store;
  };
  return {
    session: ({ identity = ANONYMOUS }) => {
      const { name, kind, roles } = identity;
      return jsonResponse({ name, kind, roles: [...roles] } satisfies ClientSession);
    },
    views: async () => jsonResponse(await views().list()),
    viewSave: async ({ rest, body = '', identity = ANONYMOUS }) =>
      jsonResponse(await views().change(decodeViewName(rest), parseViewBody(body), identity.name)),
    viewDelete: async ({ rest, identity = ANONYMOUS }) =>
      jsonResponse(await views().change(decodeViewName(rest), null, identity.name)),
  };
}

type HealthRouteId = 'live' | 'ready' | 'metrics';

interface HealthRouteDeps {
  health: Health;
  metrics: NodeMetrics;
}

export function createHealthRoutes({ health, metrics }: HealthRouteDeps): Record<HealthRouteId, RouteHandler> {
  return {
    live: () => jsonResponse({ status: 'ok' }),
    ready: async ({ trusted }) => {
      const found = await health.check();
      const readiness = trusted ? found : withoutDetails(found);
      return jsonResponse(readiness, readiness.status === 'stopping' ? 503 : 200);
    },
    metrics: async () => textResponse(await metrics.render(), 'text/plain; version=0.0.4; charset=utf-8'),
  };
}

/** Details contain paths and settings: unauthenticated clients see only whether the checks passed. */
function withoutDetails({ status, checks }: Readiness): Readiness {
  return { status, checks: checks.map(({ name, ok }) => ({ name, ok, detail: 'shown only with valid credentials' })) };
}

type PageRouteId = 'console' | 'asset' | 'docs' | 'openapi' | 'style' | 'icon';

/** Only the console may run scripts, from its own origin and never inline; windows that opened it have no access to it. */
const consoleHeaders = (fallbacks: readonly string[]) => ({
  'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src ${["'self'", ...fallbacks].join(' ')}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'cross-origin-opener-policy': 'same-origin',
});

interface PageRouteDeps {
  consoleFiles: ConsoleFiles;
  /** Somebody opens the console: a search is likely to follow. */
  onConsole?: (() => void) | undefined;
  /** Origins of members that the page may go on with. */
  fallbacks?: () => readonly string[];
  version: string;
  basePath?: string;
}

/** Browsers ask for the icon at every change of the address. A new one may be seen a day later. */
const ICON_KEPT = 'public, max-age=86400';

export function createPageRoutes({
  consoleFiles,
  onConsole,
  fallbacks = () => [],
  ...node
}: PageRouteDeps): Record<PageRouteId, RouteHandler> {
  // Loaded on demand: with the schemas of all responses, it is a tenth of what a node would load.
  const pages = () => import('../pages/docs-page.ts');
  // Built once, on first use: it blocks the event loop for some milliseconds.
  let docs: RouteResponse | undefined;
  let openApi: RouteResponse | undefined;
  return {
    console: async ({ headers, rest, query }) => {
      onConsole?.();
      const scripts = await consoleFiles.scriptsOf(`/${rest}${query.has('src') ? '?src' : ''}`);
      const link = scripts.map((url) => `<${url}>; rel=modulepreload`).join(', ');
      const own = { ...consoleHeaders(fallbacks()), ...(link !== '' && { link }) };
      return consoleResponse(await consoleFiles.page(), headers, own);
    },
    asset: async ({ headers, rest }) => {
      const file = await consoleFiles.asset(rest);
      if (!file)
        throw new PortholeError(
          'ROUTE_NOT_FOUND',
          'console asset not found (the page is from another version; reload)',
        );
      return consoleResponse(file, headers);
    },
    docs: async () => {
      docs ??= textResponse((await pages()).docsPage(node), 'text/html; charset=utf-8');
      return docs;
    },
    openapi: async () => {
      openApi ??= jsonResponse((await pages()).openApi(node));
      return openApi;
    },
    style: async () => textResponse((await pages()).STYLE, 'text/css; charset=utf-8'),
    icon: async () => textResponse((await pages()).ICON, 'image/svg+xml', { 'cache-control': ICON_KEPT }),
  };
}

interface McpRouteDeps {
  isEnabled: boolean;
  basePath: string;
  version: string;
}

/** The headers of the request to the node that mean something to the protocol. */
const PROTOCOL_HEADERS = /^(content-type$|accept$|mcp-)/;

/**
 * Assistants. Their tools send subrequests to the other routes, as the same client: no tool can read more than its role
 * allows, and none can forget to mask, limit or log.
 */
export function createMcpRoute({ isEnabled, basePath, version }: McpRouteDeps): { mcp: SubrequestHandler } {
  return {
    mcp: async (request) => {
      if (!isEnabled)
        throw new PortholeError('ROUTE_NOT_FOUND', 'assistants are not served by this node: set mcp.enabled');
      // Loaded on demand: few nodes serve assistants.
      const { handleMcpRequest } = await import('../../mcp/mcp-server.ts');
      const { createClient } = await import('@porthole/client');
      const client = createClient({
        url: `http://localhost${basePath}`,
        fetch: (url, init) => request.subrequest(url, init),
        retries: 0,
      });
      const response = await handleMcpRequest(client, toRequest(request), version);
      const contentType = response.headers.get('content-type') ?? 'application/json';
      const body = Buffer.from(await response.arrayBuffer());
      return { status: response.status, headers: { 'content-type': contentType, 'cache-control': 'no-store' }, body };
    },
  };
}

function toRequest({ headers, body, signal }: SubrequestSource): Request {
  const kept = Object.entries(headers).filter(([name]) => PROTOCOL_HEADERS.test(name));
  const list = kept.map(([name, value]): [string, string] => [name, String(value)]);
  return new Request('http://localhost/mcp', { method: 'POST', headers: list, body, signal });
}

/** What a query means, without running it. */
export function createQueryRoutes(): { logExplain: RouteHandler } {
  return {
    logExplain: async ({ query }) => {
      const node = parseExplainRequest(query);
      return jsonResponse({ query: node ? formatQuery(node) : '', words: explainQuery(node) });
    },
  };
}
