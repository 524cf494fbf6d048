import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { exactJson } from '@porthole/contract';
import type { ByteStream } from '@porthole/logs';

/** A request as a route sees it: already allowed in, its target taken apart. */
export interface RouteRequest {
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  method: 'GET' | 'HEAD' | 'DELETE';
  /** Whose route it is where that is a member of the cluster: its id as it is written in the path. */
  member: string | undefined;
  /** What stands in the path where the route leaves it open, as it is written. */
  rest: string;
  /** Whether the one who asks may see everything; only routes that answer without a token need to look. */
  trusted: boolean;
  /** Fires when the client has gone or the answer takes too long. */
  signal: AbortSignal;
}

/** What a route answers, as data; writing it to the socket happens in one place. */
export type RouteResponse = BodyResponse | StreamResponse;

interface ResponseHead {
  status: number;
  headers: OutgoingHttpHeaders;
}

export interface BodyResponse extends ResponseHead {
  body: string | Buffer;
}

export interface StreamResponse extends ResponseHead {
  stream: StreamBody;
}

/** A run of bytes. One whose length is not known beforehand is sent in pieces, and its head before the first of them. */
export interface StreamBody extends Omit<ByteStream, 'sizeBytes'> {
  sizeBytes: number | undefined;
}

export type RouteHandler = (request: RouteRequest) => RouteResponse | Promise<RouteResponse>;

export function jsonResponse(value: object, status = 200): BodyResponse {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: exactJson(value) };
}

/**
 * A list as JSON. One of many entries is written piece by piece, with others served in between: a hundred thousand files would
 * keep them waiting, and their text would take as much memory again.
 */
export function jsonListResponse(entries: readonly object[]): RouteResponse {
  if (entries.length <= ENTRIES_PER_PIECE) return jsonResponse(entries);
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return { status: 200, headers, stream: { sizeBytes: undefined, chunks: listPieces(entries), close: async () => {} } };
}

async function* listPieces(entries: readonly object[]): AsyncGenerator<Uint8Array> {
  for (let first = 0; first < entries.length; first += ENTRIES_PER_PIECE) {
    const piece = Buffer.from(exactJson(entries.slice(first, first + ENTRIES_PER_PIECE)));
    const isLast = first + ENTRIES_PER_PIECE >= entries.length;
    // Each is a list with its brackets: those between two of them become a comma.
    if (first > 0) piece[0] = COMMA;
    yield isLast ? piece : piece.subarray(0, -1);
    await nextTurn();
  }
}

const COMMA = 0x2c;

/** As text they take about 100 KB: strings that are larger are collected late. */
const ENTRIES_PER_PIECE = 500;

export function textResponse(body: string, contentType: string): BodyResponse {
  return { status: 200, headers: { 'content-type': contentType }, body };
}
