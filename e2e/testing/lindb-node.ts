import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A node that answers only the contract, with LinDB's ways: `null` lists, errors as JSON strings, no `grpcPort`. */
export async function startLindbNode(
  files: Readonly<Record<string, string>>,
  config = '[monitor]\n## Default: "10s"\nreport-interval = "10s"\n',
): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://node');
    const json = (status: number, value: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
      response.end(JSON.stringify(value));
    };
    if (pathname === '/api/v1/config') {
      const node = { hostIp: '10.8.0.21', hostName: 'lindb-root-0', version: '0.4.1', onlineTime: 1, httpPort: 3000 };
      return json(200, { node, config });
    }
    if (pathname === '/api/v1/log/list') {
      const list = Object.entries(files).map(([name, text]) => ({ name, size: Buffer.byteLength(text) }));
      return json(200, list.length > 0 ? list : null);
    }
    if (pathname !== '/api/v1/log/view') return json(404, '404 page not found');
    const name = searchParams.get('file') ?? '';
    const text = files[name];
    if (text === undefined) return json(500, `failed to open log file: ${name}`);
    // Chunked, sniffed, and without the first line, even of a whole file.
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.write(text.slice(text.indexOf('\n') + 1));
    return response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
