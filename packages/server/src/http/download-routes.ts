import { type ClusterState, optionalValue, PortholeError, parseDownloadRequest } from '@porthole/contract';
import type { DownloadTickets } from '../auth/download-tickets.ts';
import { jsonAnswer, type RouteHandler } from './answer.ts';
import { clusterDoor } from './cluster-door.ts';
import { downloadText } from './download-text.ts';
import { findRoute } from './find-route.ts';
import { TICKETED } from './gate.ts';
import { openEnded } from './open-ended.ts';
import type { RecordRouteOptions } from './record-routes.ts';
import { parseTarget } from './request-target.ts';

type DownloadRouteId = 'clusterLogDownload' | 'downloadTicket';

/** What a browser saves to disk by itself, and how it shows who asks. */
export function createDownloadRoutes(
  cluster: ClusterState | undefined,
  { clock, maxRecords, searchBudgetMs, tickets }: RecordRouteOptions & { tickets: DownloadTickets },
): Record<DownloadRouteId, RouteHandler> {
  const door = clusterDoor(cluster);
  return {
    clusterLogDownload: async (request) => {
      const all = door(request);
      const asked = parseDownloadRequest(request.query, clock());
      const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
      const headers = {
        'content-type': 'text/plain; charset=utf-8',
        'content-disposition': `attachment; filename="porthole-${stamp}.log"`,
      };
      if (request.method === 'HEAD') return { status: 200, headers, body: '' };
      const text = downloadText(all, asked, { signal: request.signal, maxRecords, budgetMs: searchBudgetMs });
      return { status: 200, headers, stream: await openEnded(text) };
    },
    downloadTicket: ({ query, headers }) => {
      const target = optionalValue(query, 'for') ?? '';
      const route = target.startsWith('/') ? findRoute(parseTarget(target).path)?.route : undefined;
      if (route === undefined || !TICKETED.has(route))
        throw new PortholeError(
          'PARAMETER_INVALID',
          '"for" must be the path and query of a download: /api/v1/log/raw, that of a member, or /api/v1/cluster/log/download',
        );
      return jsonAnswer(tickets.issue({ authorization: headers.authorization, target }));
    },
  };
}
