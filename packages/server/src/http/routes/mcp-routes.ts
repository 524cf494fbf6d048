import { createClient } from '@porthole/client';
import { PortholeError } from '@porthole/contract';
import type { SubrequestHandler, SubrequestSource } from '../response/route-response.ts';

export interface McpRouteDeps {
  isEnabled: boolean;
  basePath: string;
  version: string;
}

/** Of the request to the node, the headers that mean something to the protocol. */
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
      const { handleMcpRequest } = await import('../../mcp/handle-http.ts');
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
