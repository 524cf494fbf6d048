import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A line of this length ends the response, with status 200. */
const LONGEST_LINE_BYTES = 65_536;

const DEFAULT_SIZE = 1_048_576;

export interface LindbRequest {
  path: string;
  file: string | null;
  status: number;
}

/**
 * A node that only implements the contract, with the quirks of LinDB 0.4.1: `null` for an empty list and `.log` files alone in
 * it, the first line of every view dropped, lines of 64 KiB ending it, CRLF made LF and a last newline added, all errors
 * 500 with a JSON string, and no `grpcPort`. Ends with the test.
 */
export class FakeLindb {
  /** Files by name. */
  readonly files = new Map<string, Buffer>();
  /** Files that are listed but cannot be opened. */
  readonly unreadable = new Set<string>();
  readonly requests: LindbRequest[] = [];
  /** Credentials it received. */
  readonly authorizations: string[] = [];
  config = '[monitor]\n## Default: "10s"\nreport-interval = "10s"\n';
  node = { hostIp: '10.8.0.21', hostName: 'lindb-root-0', version: '0.4.1', onlineTime: 1, httpPort: 3000 };
  /** Called before a view: simulates writes between listing and view. */
  beforeView: (file: string) => void = () => {};
  /** Views may start within a line, unlike those of LinDB. */
  viewAsIs = false;
  /** Offset of the zone in which it writes `access.log`, a line for each request; `undefined`: it writes none. */
  accessLogOffsetMs: number | undefined;
  #server: Server = this.#createServer();
  #port = 0;

  private constructor() {}

  #createServer(): Server {
    return createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://node');
      if (request.headers.authorization !== undefined) this.authorizations.push(request.headers.authorization);
      this.#respond(pathname, searchParams, response);
      this.requests.push({ path: pathname, file: searchParams.get('file'), status: response.statusCode });
      if (this.accessLogOffsetMs === undefined) return;
      const { method = '', url = '' } = request;
      const time = lindbTime(Date.now(), this.accessLogOffsetMs);
      this.write('access.log', `${time}\t127.0.0.1 1ms "${method} ${url} HTTP/1.1" ${response.statusCode} 100\n`);
    });
  }

  static async start(files: Readonly<Record<string, string | Buffer>> = {}): Promise<FakeLindb> {
    const fake = new FakeLindb();
    for (const [name, text] of Object.entries(files)) fake.files.set(name, Buffer.from(text));
    await fake.restart();
    onTestFinished(() => fake.stop());
    return fake;
  }

  /** Listens on its port, after it was stopped. */
  async restart(): Promise<void> {
    this.#server = this.#createServer();
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Requests per path. */
  get counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { path } of this.requests) counts[path] = (counts[path] ?? 0) + 1;
    return counts;
  }

  write(name: string, text: string): void {
    this.files.set(name, Buffer.concat([this.files.get(name) ?? Buffer.alloc(0), Buffer.from(text)]));
  }

  rename(from: string, to: string): void {
    this.files.set(to, this.files.get(from) ?? Buffer.alloc(0));
    this.files.delete(from);
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #respond(path: string, query: URLSearchParams, response: ServerResponse): void {
    if (path === '/api/v1/config') json(response, 200, { node: this.node, config: this.config });
    else if (path === '/api/v1/log/list') json(response, 200, this.#list());
    else if (path === '/api/v1/log/view') this.#view(query, response);
    else response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found');
  }

  #list(): { name: string; size: number }[] | null {
    const names = [...this.files.keys()].filter((name) => name.endsWith('.log')).sort();
    return names.length > 0 ? names.map((name) => ({ name, size: this.files.get(name)?.length ?? 0 })) : null;
  }

  #view(query: URLSearchParams, response: ServerResponse): void {
    const name = query.get('file') ?? '';
    this.beforeView(name);
    const bytes = this.files.get(name);
    if (bytes === undefined || this.unreadable.has(name)) {
      json(response, 500, `failed to open log file: ${name}`);
      return;
    }
    // Chunked and sniffed.
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    const size = Number(query.get('size') ?? DEFAULT_SIZE);
    response.write(this.viewAsIs ? bytes.subarray(Math.max(0, bytes.length - size)) : renderView(bytes, size));
    response.end();
  }
}

/** A time as LinDB writes it in a zone with this offset. */
export function lindbTime(atMs: number, offsetMs = 0): string {
  return new Date(atMs + offsetMs).toISOString().replace('T', ' ').slice(0, -1);
}

/** The body of a view as LinDB builds it. */
export function renderView(bytes: Buffer, size: number): Buffer {
  const window = bytes.subarray(Math.max(0, bytes.length - size));
  const text = window.toString('latin1');
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const sent: string[] = [];
  for (const line of lines) {
    if (line.length >= LONGEST_LINE_BYTES) break;
    sent.push(line.endsWith('\r') ? line.slice(0, -1) : line);
  }
  const body = sent.slice(1).map((line) => `${line}\n`);
  return Buffer.from(body.join(''), 'latin1');
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value));
}
