import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net';

/*
 * Members that are only as much of a node as others see of it, many of them in a process of their own, so that what
 * they cost is not counted as the node's that asks them. COUNT RECORDS FIRST STARTED-MS: how many there are, how many
 * records each reports of itself, the number of the first of them among those of all such processes, and when all of
 * them started. Prints its ports as a line of JSON, and runs until it is ended.
 */

/** What it prints when all ports are open. */
export interface FakePorts {
  /** Ports of members that answer. */
  answering: number[];
  /** The port of one that takes connections and never answers. */
  silent: number;
  /** The port of one that is not there. */
  refusing: number;
}

const HOST = '127.0.0.1';
const FILE = 'broker.log';

/** Between two records of a member; those of others lie between them. */
const RECORD_EVERY_MS = 7000;

/** As large as that of a broker. */
const CONFIG_TEXT = Array.from({ length: 100 }, (_, key) => `setting-number-${key} = "value of number ${key}"`).join(
  '\n',
);

const [memberCount = 0, recordCount = 0, firstNumber = 0, startedMs = 0] = process.argv.slice(2).map(Number);

class FakeMember {
  readonly #number: number;
  /** Names a file in cursors: as irregular as the real ones, which do not get shorter when they are packed. */
  readonly #mark: string;
  port = 0;
  /** Its last response, and to what: making it up again would take longer than sending it. */
  #sent = { query: '', text: '' };

  constructor(number: number) {
    this.#number = number;
    this.#mark = [0x9e3779b1, 0x85ebca6b].map((factor) => toHex(Math.imul(number + 1, factor))).join('');
  }

  readonly respond: RequestListener = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', `http://${HOST}`);
    if (pathname === '/api/v1/log/search') return this.#search(searchParams, response);
    const body = this.#responseBody(pathname);
    if (body === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

  #responseBody(path: string): unknown {
    const node = this.#node();
    const firstTimeMs = this.#recordTime(0);
    const lastTimeMs = this.#recordTime(recordCount - 1);
    const facts = { modifiedMs: lastTimeMs, compressed: false, format: 'contract', firstTimeMs, lastTimeMs };
    const size = recordCount * 200;
    if (path === '/health/live') return { status: 'ok' };
    if (path === '/api/v1/node') {
      const uptimeMs = Date.now() - startedMs;
      const versions = { porthole: '0.1.0', node: process.versions.node };
      const zone = { timeZone: 'UTC', utcOffsetMinutes: 0 };
      return {
        node,
        observes: 'service',
        clockMs: Date.now(),
        ...zone,
        uptimeMs,
        versions,
        capabilities: [],
      };
    }
    if (path === '/api/v1/config') return { config: CONFIG_TEXT, node };
    if (path === '/api/v1/log/list') return [{ name: FILE, size }];
    if (path === '/api/v1/log/files') {
      return [{ name: FILE, size, ...facts, problem: null, family: FILE, state: 'live' }];
    }
    if (path === '/api/v1/log/histogram') {
      return { bucketMs: 900_000, buckets: [], untimed: 0, end: endFields('exhausted', 0) };
    }
    return undefined;
  }

  /** One after the other from where the cursor says; all conditions are taken to be met. */
  #search(query: URLSearchParams, response: ServerResponse<IncomingMessage>): void {
    const asked = String(query);
    if (this.#sent.query !== asked) this.#sent = { query: asked, text: this.#searchText(query) };
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(this.#sent.text);
  }

  #searchText(query: URLSearchParams): string {
    const isNewest = query.get('order') !== 'oldest';
    const limit = Number(query.get('limit') ?? 100);
    const after = query.get('cursor')?.split('.')[2];
    const begin = after === undefined ? 0 : this.#recordNumber(Number.parseInt(after, 36), isNewest) + 1;
    const end = Math.min(recordCount, begin + limit);
    let text = '';
    for (let place = begin; place < end; place++) text += `${this.#record(this.#recordNumber(place, isNewest))}\n`;
    const cursor = end < recordCount ? this.#cursor(this.#recordNumber(end - 1, isNewest)) : null;
    const facts = { type: 'end', ...endFields(cursor === null ? 'exhausted' : 'limit', end - begin), cursor };
    return `${text}${JSON.stringify(facts)}\n`;
  }

  /** From the place in the answer to the number of the record, and back. */
  #recordNumber(place: number, isNewest: boolean): number {
    return isNewest ? recordCount - 1 - place : place;
  }

  #recordTime(number: number): number {
    return startedMs - (recordCount - number) * RECORD_EVERY_MS + this.#number * 3;
  }

  #cursor(number: number): string {
    const hash = (Math.imul(number * 1009 + this.#number + 1, 0x9e3779b1) >>> 0).toString(36);
    return `${this.#mark}.sg.${number.toString(36)}.${hash}.1s.${Buffer.from(FILE).toString('base64url')}`;
  }

  #record(number: number): string {
    return JSON.stringify({
      type: 'record',
      file: FILE,
      offset: number * 200,
      bytes: 200,
      cursor: this.#cursor(number),
      timeMs: this.#recordTime(number),
      level: 'WARN',
      source: 'replica/partition.go:78',
      tags: ['replica', 'channel'],
      message: 'replica channel is behind the leader, sending from the last acknowledged sequence',
      context: { shard: number % 64, family: '20260106', took: '617ms' },
    });
  }

  #node() {
    const name = `broker-${this.#number}`;
    const ports = { grpcPort: 0, httpPort: this.port };
    return { hostIp: HOST, hostName: name, ...ports, version: '0.1.0', onlineTime: startedMs };
  }
}

function toHex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}

function endFields(reason: string, records: number) {
  const scanned = { scannedBytes: recordCount * 200, skippedBytes: 0, scannedFiles: 1 };
  return { reason, records, ...scanned, coveredFromMs: null, coveredToMs: null, problems: [], elapsedMs: 0 };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, () => resolve((server.address() as AddressInfo).port));
  });
}

async function openMember(number: number): Promise<number> {
  const member = new FakeMember(number);
  member.port = await listen(createServer(member.respond));
  return member.port;
}

async function unusedPort(): Promise<number> {
  const server = createSocketServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const answering: number[] = [];
for (let number = 0; number < memberCount; number++) answering.push(await openMember(firstNumber + number));
const ports: FakePorts = {
  answering,
  silent: await listen(createSocketServer((socket) => socket.on('error', () => {}).resume())),
  refusing: await unusedPort(),
};
console.log(JSON.stringify(ports));
