import { get } from 'node:http';

export type Query = Readonly<Record<string, string | number>>;

export interface Reply {
  /** From the request, connecting included, until the last byte. */
  tookMs: number;
  body: Buffer;
}

/** The closing record of a search, as far as the bench reads it. */
export interface SearchEnd {
  type: 'end';
  reason: string;
  records: number;
  scannedBytes: number;
  skippedBytes: number;
}

export interface SearchReply extends Reply {
  end: SearchEnd;
}

/** Asks over a connection of its own and reads the answer to its end. Rejects when it is not a good one. */
export function sendRequest(url: string, query: Query): Promise<Reply> {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const request = get(`${url}?${parameters}`, { agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const tookMs = performance.now() - startedAt;
        const body = Buffer.concat(chunks);
        if (response.statusCode === 200) return resolve({ tookMs, body });
        reject(new Error(`${url}?${parameters} answers ${response.statusCode}: ${body.subarray(0, 500)}`));
      });
    });
    request.on('error', reject);
  });
}

/** A search that must get to its end: all of it scanned, or as many records found as were asked for. */
export async function searchNode(node: string, query: Query): Promise<SearchReply> {
  const reply = await sendRequest(`${node}/api/v1/log/search`, query);
  const { body } = reply;
  const lastLine = body.subarray(body.lastIndexOf(10, -2) + 1).toString();
  const end = JSON.parse(lastLine) as SearchEnd;
  if (end.type !== 'end' || (end.reason !== 'exhausted' && end.reason !== 'limit')) {
    throw new Error(`the search for ${JSON.stringify(query)} was not done: ${lastLine.slice(0, 500)}`);
  }
  return { ...reply, end };
}

export function fetchHistogram(node: string, query: Query): Promise<Reply> {
  return sendRequest(`${node}/api/v1/log/histogram`, query);
}
