import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RECORDS_TYPE } from '@porthole/contract';
import { onTestFinished } from 'vitest';

export interface OddServer {
  url: string;
  port: number;
  /** `METHOD path?query` of the requests so far. */
  requests: string[];
  headers: IncomingMessage['headers'][];
  /** Requests whose connection was closed before the end of the response. */
  aborted: number;
}

export type Handler = (request: IncomingMessage, response: ServerResponse, number: number) => void;

/** A server that responds as the test wants; closed with all its connections when the test ends. */
export async function startOddServer(handler: Handler): Promise<OddServer> {
  const odd: OddServer = { url: '', port: 0, requests: [], headers: [], aborted: 0 };
  const server = createServer((request, response) => {
    odd.requests.push(`${request.method} ${request.url}`);
    odd.headers.push(request.headers);
    response.once('close', () => {
      if (!response.writableFinished) odd.aborted++;
    });
    handler(request, response, odd.requests.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  odd.port = (server.address() as AddressInfo).port;
  odd.url = `http://127.0.0.1:${odd.port}`;
  return odd;
}

/** The same response to everything. */
export function respondWith(status: number, body: string, headers: Record<string, string> = {}): Handler {
  return (_request, response) => response.writeHead(status, headers).end(body);
}

export const JSON_HEADERS = { 'content-type': 'application/json' };
export const NDJSON_HEADERS = { 'content-type': 'application/x-ndjson' };
/** Records with their columns, as nodes send them to each other. */
export const FRAMES_HEADERS = { 'content-type': RECORDS_TYPE };
export const SSE_HEADERS = { 'content-type': 'text/event-stream' };
export const HTML_HEADERS = { 'content-type': 'text/html; charset=utf-8' };
