import type { IncomingMessage, ServerResponse } from 'node:http';

/** What the host knows of a request besides the request itself. */
export interface FetchContext {
  /** IP address of the client: limits are counted by it, and only this machine is served without credentials. */
  address?: string | undefined;
  /** The request as the framework has it, for `authenticate`; the `Request` by default. */
  source?: unknown;
}

export interface HandlerContext {
  /** The request as the framework has it, for `authenticate`; Node's request by default. */
  source?: unknown;
}

/** The node as a part of another server. */
export interface EmbeddedHttp {
  /** A handler of `node:http`, Connect and Express. It responds to every request; `next` of Connect is not called. */
  handler(
    request: IncomingMessage,
    response: ServerResponse,
    context?: HandlerContext | ((error?: unknown) => void),
  ): void;
  /** The response to a request of the Fetch standard. Rejects only if the request is aborted before the response begins. */
  fetch(request: Request, context?: FetchContext): Promise<Response>;
}
