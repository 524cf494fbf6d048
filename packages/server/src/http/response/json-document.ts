import type { IncomingHttpHeaders } from 'node:http';
import type { RouteResponse } from './route-response.ts';

const NDJSON = 'application/x-ndjson';
const LINE_FEED = 10;
const START = Buffer.from('{"records":[');
const COMMA = Buffer.from(',');
const END = Buffer.from('],"end":');
const CLOSE = Buffer.from('}\n');
const NOTHING = new Uint8Array(0);

/**
 * Lines of JSON as one document for clients that ask for it: `{"records": [...], "end": {...}}`, where `end` is the closing
 * record. It is written as the lines come, so it takes no more memory than they do.
 */
export function asJsonDocument(response: RouteResponse, { accept }: IncomingHttpHeaders): RouteResponse {
  if (!('stream' in response) || response.headers['content-type'] !== NDJSON) return response;
  const vary = 'Accept';
  if (!prefersDocument(accept)) return { ...response, headers: { ...response.headers, vary } };
  const headers = { ...response.headers, vary, 'content-type': 'application/json; charset=utf-8' };
  return { ...response, headers, stream: { ...response.stream, chunks: joinLines(response.stream.chunks) } };
}

/** Only if it is named: a wildcard gets lines, as every client did before there was a choice. */
function prefersDocument(accept = ''): boolean {
  const weights = new Map<string, number>();
  for (const part of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim());
    const [, weight = '1'] = /^q=([\d.]+)$/.exec(parameters.find((text) => text.startsWith('q=')) ?? '') ?? [];
    weights.set(type, Number(weight));
  }
  const document = weights.get('application/json') ?? 0;
  return document > 0 && document > (weights.get(NDJSON) ?? 0);
}

/** The last line is the closing record, so each line is held back until the next one comes. */
async function* joinLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array = NOTHING;
  let isFirst = true;
  for await (const chunk of chunks) {
    const parts: Uint8Array[] = [];
    for (
      let start = 0, end = chunk.indexOf(LINE_FEED);
      end >= 0;
      start = end + 1, end = chunk.indexOf(LINE_FEED, start)
    ) {
      if (held.length > 0) {
        parts.push(isFirst ? START : COMMA, held);
        isFirst = false;
      }
      held = chunk.subarray(start, end);
    }
    const joined = Buffer.concat(parts);
    // The memory of the chunk is used again.
    held = Buffer.from(held);
    yield joined;
  }
  yield Buffer.concat([isFirst ? START : NOTHING, END, held, CLOSE]);
}
