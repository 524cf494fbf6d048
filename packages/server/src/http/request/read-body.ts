import { getRoute, MAX_BODY_BYTES, parseBodyParameters } from '@porthole/contract';
import { HttpRefusal } from '../response/problem-response.ts';
import type { RouteTarget } from './find-route.ts';
import type { HttpRequest } from './http-exchange.ts';

/** The body of a refused request is not read. */
const CLOSE = { connection: 'close' } as const;

/**
 * The body of a request. Where it has the parameters of the route, they are added to those of the URL. Only JSON is
 * accepted: a page of another origin cannot send it without a preflight request. Reads at most `MAX_BODY_BYTES` into memory.
 */
export async function readBody(
  request: HttpRequest,
  query: URLSearchParams,
  { route }: Pick<RouteTarget, 'route'>,
): Promise<string> {
  const text = await readJsonText(request);
  if (!getRoute(route).post) return text;
  for (const [name, value] of parseBodyParameters(text)) query.append(name, value);
  return text;
}

async function readJsonText(request: HttpRequest): Promise<string> {
  const {
    'content-type': type = '',
    'content-encoding': encoding = 'identity',
    'content-length': length,
  } = request.headers;
  if (type.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json' || encoding !== 'identity')
    throw new HttpRefusal('CONTENT_TYPE_UNSUPPORTED', 'send the body as application/json, not compressed', CLOSE);
  if (Number(length ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  return readText(request);
}

/** A program that embeds the node may have a body parser, which has read the body already. */
async function readText(request: HttpRequest): Promise<string> {
  if (request.body !== undefined && request.body !== null) return textOf(request.body);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function textOf(body: unknown): string {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : JSON.stringify(body);
  if (Buffer.byteLength(text) > MAX_BODY_BYTES) throw tooLarge();
  return text;
}

function tooLarge(): HttpRefusal {
  return new HttpRefusal('BODY_TOO_LARGE', `the request body is larger than ${MAX_BODY_BYTES} bytes`, CLOSE);
}
