import { type ClusterState, optionalValue, PortholeError, parseDownloadRequest } from '@porthole/contract';
import type { DownloadTickets } from '../../auth/download-tickets.ts';
import { TICKETED } from '../request/authorize-request.ts';
import { findRoute, parseTarget } from '../request/find-route.ts';
import { downloadText } from '../response/download-text.ts';
import { openStream } from '../response/open-stream.ts';
import { jsonResponse, type RouteHandler } from '../response/route-response.ts';
import type { RecordRouteOptions } from './record-routes.ts';
import { requireCluster } from './require-cluster.ts';

type DownloadRouteId = 'clusterLogDownload' | 'downloadTicket';

/** Downloads in a browser, and the tickets that authenticate them. */
export function createDownloadRoutes(
  cluster: ClusterState | undefined,
  { clock, maxRecords, searchBudgetMs, tickets }: RecordRouteOptions & { tickets: DownloadTickets },
): Record<DownloadRouteId, RouteHandler> {
  const clusterFor = requireCluster(cluster);
  return {
    clusterLogDownload: async (request) => {
      const all = clusterFor(request);
      const downloadRequest = parseDownloadRequest(request.query, clock());
      const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
      const headers = {
        'content-type': 'text/plain; charset=utf-8',
        'content-disposition': `attachment; filename="porthole-${stamp}.log"`,
      };
      if (request.method === 'HEAD') return { status: 200, headers, body: '' };
      const text = downloadText(all, downloadRequest, { signal: request.signal, maxRecords, budgetMs: searchBudgetMs });
      return { status: 200, headers, stream: await openStream(text) };
    },
    downloadTicket: ({ query, headers }) => {
      const target = optionalValue(query, 'for') ?? '';
      const route = target.startsWith('/') ? findRoute(parseTarget(target).path)?.route : undefined;
      if (route === undefined || !TICKETED.has(route))
        throw new PortholeError(
          'PARAMETER_INVALID',
          '"for" must be the path and query of a download: /api/v1/log/raw, that of a member, or /api/v1/cluster/log/download',
        );
      return jsonResponse(tickets.issue({ authorization: headers.authorization, target }));
    },
  };
}
