import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { ConsoleFile } from '../console-files.ts';
import { evaluateConditions } from './conditions.ts';
import { HttpRefusal } from './problem-response.ts';
import type { BodyResponse } from './route-response.ts';

/** One year, the usual value for content that never changes. */
const FOR_GOOD = 'public, max-age=31536000, immutable';

/** A file of the console in an encoding that the client accepts, or 304. */
export function consoleResponse(
  file: ConsoleFile,
  requestHeaders: IncomingHttpHeaders,
  extra: OutgoingHttpHeaders = {},
): BodyResponse {
  const encoding = chooseEncoding(requestHeaders['accept-encoding'], [...file.encoded.keys()]);
  // A strong tag names bytes, and those differ by encoding (RFC 9110, 8.8.3.3).
  const etag = `"${encoding ? `${file.hash}-${encoding}` : file.hash}"`;
  const headers = {
    ...extra,
    etag,
    'cache-control': file.isHashed ? FOR_GOOD : 'no-cache',
    vary: 'Accept-Encoding',
  };
  const verdict = evaluateConditions(requestHeaders, { etag, modifiedMs: Number.NaN });
  if (verdict === 'failed')
    throw new HttpRefusal(
      'PRECONDITION_FAILED',
      'console asset not found (the page is from another version; reload)',
      {},
    );
  if (verdict === 'not-modified') return { status: 304, headers, body: '' };
  return {
    status: 200,
    headers: { ...headers, 'content-type': file.contentType, ...(encoding && { 'content-encoding': encoding }) },
    body: (encoding && file.encoded.get(encoding)) ?? file.plain,
  };
}

/** Supported content encodings. */
export type Encoding = 'br' | 'gzip';

/**
 * The available encoding that an `Accept-Encoding` header prefers; the first one of equals. `undefined`: identity, also for
 * a header that accepts nothing at all.
 */
export function chooseEncoding<Name extends string>(
  header: string | undefined,
  available: readonly Name[],
): Name | undefined {
  const weights = parseWeights(header ?? '');
  const getWeight = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0;
  const best = Math.max(0, ...available.map(getWeight));
  // Identity is acceptable without being named, but then never preferred.
  const plain = weights.get('identity') ?? 0;
  return best > 0 && best >= plain ? available.find((encoding) => getWeight(encoding) === best) : undefined;
}

/** Invalid parts are ignored. */
function parseWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [, coding, weight = '1'] = /^\s*([a-z0-9*-]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/.exec(part) ?? [];
    if (coding !== undefined) weights.set(coding, Math.min(1, Number(weight)));
  }
  return weights;
}
