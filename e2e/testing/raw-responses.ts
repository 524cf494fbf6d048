/** One response as it stands in the bytes of a connection. */
export interface RawResponse {
  status: number;
  contentType: string;
  body: Buffer;
  /** All of it came: as many bytes as were announced, or the last chunk. */
  isWhole: boolean;
  /** The server closes the connection after it. */
  isLast: boolean;
}

/**
 * The responses on a connection that the server has closed, read strictly: a body that is longer or shorter than announced
 * is not taken for a whole one, and bytes that belong to no response throw.
 */
export function parseResponses(bytes: Buffer, methods: readonly string[]): RawResponse[] {
  const responses: RawResponse[] = [];
  let at = 0;
  for (const method of methods) {
    const headEnd = bytes.indexOf('\r\n\r\n', at);
    if (headEnd < 0) break;
    const lines = bytes.toString('latin1', at, headEnd).split('\r\n');
    const [, status = ''] = /^HTTP\/1\.1 (\d{3}) /.exec(lines[0] ?? '') ?? [];
    if (status === '') throw new Error(`no head of a response: ${JSON.stringify(lines[0])}`);
    const header = (name: string) =>
      lines
        .find((line) => line.toLowerCase().startsWith(`${name}:`))
        ?.slice(name.length + 1)
        .trim();
    at = headEnd + 4;
    const response: RawResponse = {
      status: Number(status),
      contentType: header('content-type') ?? '',
      body: Buffer.alloc(0),
      isWhole: true,
      isLast: header('connection') === 'close',
    };
    responses.push(response);
    if (method === 'HEAD' || status === '204' || status === '304') continue;
    const length = header('content-length');
    if (header('transfer-encoding') === 'chunked') at = readChunks(bytes, at, response);
    else if (length === undefined) throw new Error(`a response without a length: ${lines.join(', ')}`);
    else {
      response.body = bytes.subarray(at, at + Number(length));
      response.isWhole = response.body.length === Number(length);
      at += response.body.length;
    }
    if (!response.isWhole) break;
  }
  if (responses.every(({ isWhole }) => isWhole) && responses.length === methods.length && at < bytes.length)
    throw new Error(`bytes after the last response: ${JSON.stringify(bytes.toString('latin1', at, at + 100))}`);
  return responses;
}

function readChunks(bytes: Buffer, start: number, response: RawResponse): number {
  const parts: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (!(next <= bytes.length)) {
      response.isWhole = false;
      response.body = Buffer.concat(parts);
      return bytes.length;
    }
    parts.push(bytes.subarray(lineEnd + 2, next - 2));
    at = next;
    if (size === 0) {
      response.body = Buffer.concat(parts);
      return at;
    }
  }
}
