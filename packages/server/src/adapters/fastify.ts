import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EmbeddedNode } from '../embedded-node.ts';

/** The parts of Fastify that are used. */
interface FastifyScope {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    parser: (request: unknown, body: unknown, done: (error: null) => void) => void,
  ): unknown;
  route(options: object): unknown;
  addHook(name: 'preClose', hook: () => Promise<void>): unknown;
}

interface FastifyRequest {
  raw: IncomingMessage;
}

interface FastifyReply {
  raw: ServerResponse;
  hijack(): unknown;
}

/**
 * A plugin for Fastify: `app.register(fastifyPlugin(node), { prefix: '/ops' })`, with `http.base-path` set to the prefix.
 * Closes the node with the server. Hooks of Fastify run before it, so `authenticate` gets what they have found out.
 */
export function fastifyPlugin(node: Pick<EmbeddedNode, 'handler' | 'close'>): (scope: FastifyScope) => Promise<void> {
  return async (scope) => {
    // The node reads bodies itself, with its own limit.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    const handler = (request: FastifyRequest, reply: FastifyReply) => {
      reply.hijack();
      node.handler(request.raw, reply.raw, { source: request });
    };
    const method = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'];
    for (const url of ['/', '/*']) scope.route({ method, url, handler, exposeHeadRoute: false });
    // Before Fastify waits for connections: a follow does not end by itself.
    scope.addHook('preClose', () => node.close());
  };
}
