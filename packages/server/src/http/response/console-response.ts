import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { ConsoleFile } from '../console-files.ts';
import { chooseEncoding } from './choose-encoding.ts';
import { evaluateConditions } from './conditions.ts';
import { HttpRefusal } from './http-refusal.ts';
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
