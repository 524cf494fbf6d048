import { explainQuery, formatQuery, parseExplainRequest } from '@porthole/contract';
import { jsonResponse, type RouteHandler } from '../response/route-response.ts';

/** What a query means, without running it. */
export function createQueryRoutes(): { logExplain: RouteHandler } {
  return {
    logExplain: async ({ query }) => {
      const node = parseExplainRequest(query);
      return jsonResponse({ query: node ? formatQuery(node) : '', words: explainQuery(node) });
    },
  };
}
