import { createMcpHandler } from '@modelcontextprotocol/server';
import type { NodeClient } from '@porthole/client';
import { createMcpServer } from './create-mcp-server.ts';

/**
 * The response to one request of an assistant over HTTP. Nothing is kept between requests: there are no sessions, and no
 * subscriptions, because the tools never change.
 */
export async function handleMcpRequest(client: NodeClient, request: Request, version: string): Promise<Response> {
  const handler = createMcpHandler(() => createMcpServer(client, version), { maxSubscriptions: 0 });
  return handler.fetch(request);
}
