import {
  optionalValue,
  PortholeError,
  parseBundleRequest,
  parseDownloadRequest,
  type RequestClock,
} from '@porthole/contract';
import type { DownloadTickets } from '../../auth/download-tickets.ts';
import type { BundleSources } from '../../bundle/bundle-writer.ts';
import { TICKETED } from '../request/authorize-request.ts';
import { findRoute, parseTarget } from '../request/find-route.ts';
import { jsonResponse, openStream, type RouteHandler, type StreamBody } from '../response/route-response.ts';
import type { RecordRouteOptions } from './record-routes.ts';
import type { Scope } from './scope.ts';

type DownloadRouteId = 'logDownload' | 'downloadTicket';

/** Downloads in a browser, and the tickets that authenticate them. */
export function createDownloadRoutes(
  scope: Scope,
  { clock, maxRecords, searchBudgetMs, tickets }: RecordRouteOptions & { tickets: DownloadTickets },
): Record<DownloadRouteId, RouteHandler> {
  return {
    logDownload: async (request) => {
      const { selection, ...rest } = parseDownloadRequest(request.query, clock());
      const { state, asked } = await scope.records(request, selection);
      const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, ''); // clock: the name a download is saved by
      const headers = {
        'content-type': 'text/plain; charset=utf-8',
        'content-disposition': `attachment; filename="porthole-${stamp}.log"`,
      };
      if (request.method === 'HEAD') return { status: 200, headers, body: '' };
      const { signal, client } = request;
      // Loaded on demand, with the kernel that writes the text.
      const { downloadText } = await import('../response/download-text.ts');
      const text = downloadText(
        state,
        { ...rest, selection: asked },
        { signal, maxRecords, budgetMs: searchBudgetMs, client },
      );
      return { status: 200, headers, stream: await openStream(text) };
    },
    downloadTicket: ({ query, headers, client = '' }) => {
      const target = optionalValue(query, 'for') ?? '';
      const route = target.startsWith('/') ? findRoute(parseTarget(target).path)?.route : undefined;
      if (route === undefined || !TICKETED.has(route))
        throw new PortholeError(
          'PARAMETER_INVALID',
          '"for" must be the path and query of a download: /api/v1/log/raw, that of a member, or /api/v1/log/download',
        );
      return jsonResponse(tickets.issue({ client, authorization: headers.authorization, target }));
    },
  };
}

interface BundleRouteOptions extends BundleSources {
  clock(): RequestClock;
}

/** Support bundles, one at a time: each fetches everything from all members. */
export function createBundleRoutes(scope: Scope, options: BundleRouteOptions): Record<'bundle', RouteHandler> {
  let isUnderWay = false;
  return {
    async bundle(request) {
      const parsed = parseBundleRequest(request.query, options.clock());
      const { state: all, asked: bundleRequest } = await scope.cluster(request, parsed);
      const headers = { 'content-type': 'application/zip' };
      // How long it will be is only known when it is made.
      if (request.method === 'HEAD') return { status: 200, headers, stream: nothing() };
      if (isUnderWay)
        throw new PortholeError('BUNDLE_UNDER_WAY', 'this node is making a bundle, and makes one at a time');
      isUnderWay = true;
      const release = () => {
        isUnderWay = false;
      };
      try {
        // Loaded when needed: few nodes ever make one.
        const { openBundle } = await import('../../bundle/open-bundle.ts');
        const bundle = await openBundle(options, { cluster: all, request: bundleRequest, signal: request.signal });
        return {
          status: 200,
          headers: { ...headers, 'content-disposition': `attachment; filename="${bundle.fileName}"` },
          stream: { chunks: bundle.chunks, close: () => bundle.close().finally(release) },
        };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

function nothing(): StreamBody {
  return { chunks: (async function* () {})(), close: async () => {} };
}
