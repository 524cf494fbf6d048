import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  ClusterEnd,
  ClusterFollowItem,
  ClusterItem,
  ClusterNode,
  ClusterRecord,
  MemberReport,
} from '@porthole/contract';
import { onTestFinished } from 'vitest';

/** When the node says it is. */
export const NODE_TIME = Date.parse('2026-11-15T12:00:00Z');

export const OK = { outcome: 'ok', detail: null, elapsedMs: 3, count: 1, asOfMs: null } as const;

export const REFUSED: MemberReport = {
  ...OK,
  id: 'storage-1',
  outcome: 'refused',
  detail: 'connect ECONNREFUSED 10.8.0.31:7300',
  count: 0,
};

/** What a node says of one member. */
export function clusterNode(id: string, given: Partial<ClusterNode> = {}): ClusterNode {
  return {
    id,
    labels: {},
    role: id.replace(/-\d+$/, ''),
    node: {
      hostIp: '10.8.0.21',
      hostName: id,
      grpcPort: 7301,
      httpPort: 7300,
      version: '0.1.0',
      onlineTime: NODE_TIME - 7_200_000,
    },
    url: `http://${id}:7300`,
    isSelf: false,
    state: 'up',
    sinceMs: null,
    report: { ...OK, id },
    clock: { offsetMs: 0, uncertaintyMs: 2 },
    timeZone: 'UTC',
    uptimeMs: 7_200_000,
    lastRecordMs: NODE_TIME - 3000,
    recentErrors: 0,
    lastSeenMs: NODE_TIME,
    problems: [],
    ...given,
  };
}

/** A record of the contract's format with its raw text. */
export function clusterRecord(
  node: string,
  second: number,
  message: string,
  given: Partial<ClusterRecord> = {},
): ClusterRecord {
  const atMs = Date.parse('2026-11-15T11:00:00Z') + second * 1000;
  const raw = `${new Date(atMs).toISOString().slice(0, 23).replace('T', ' ')}\tINFO\ta.go:1\t[A]: ${message}`;
  const record = { type: 'record', file: 'a.log', offset: second, bytes: Buffer.byteLength(raw) + 1 } as const;
  return { ...record, node, timeMs: atMs, atMs, level: 'INFO', message, cursor: `c${second}`, raw, ...given };
}

export interface ClusterResponses {
  /** By path below `/api/v1`; a list of items is a stream of lines. */
  responses?: Readonly<Record<string, unknown>>;
  /** The end of each stream; its reports. */
  members?: readonly MemberReport[];
  duplicates?: ClusterEnd['duplicates'];
  follow?: readonly ClusterFollowItem[];
  /** Files as members have them, by `NODE/FILE`. */
  files?: Readonly<Record<string, string>>;
}

export interface FakeClusterNode {
  url: string;
  /** `path?query` of the requests so far, below `/api/v1`. */
  requests: string[];
}

/** A node that answers for a cluster that is not there. */
export async function startClusterNode(given: ClusterResponses): Promise<FakeClusterNode> {
  const node: FakeClusterNode = { url: '', requests: [] };
  const server = createServer((request, response) => {
    const { pathname, search, searchParams } = new URL(request.url ?? '/', 'http://node');
    const path = pathname.replace('/api/v1', '');
    node.requests.push(`${path}${decodeURIComponent(search)}`);
    if (path === '/log/follow') return follow(response, given.follow ?? []);
    const [, member] = /^\/nodes\/([^/]+)\/log\/raw$/.exec(path) ?? [];
    const text = given.files?.[`${member}/${searchParams.get('file')}`];
    if (text !== undefined) return raw(request, response, text);
    const body = path === '/node' ? DESCRIPTION : given.responses?.[path];
    if (body === undefined) return json(response, 404, { code: 'ROUTE_NOT_FOUND', detail: 'there is no such route' });
    if (path === '/log/search' || path === '/log/around') {
      const limit = Number(searchParams.get('limit') ?? Infinity);
      return lines(response, (body as ClusterItem[]).slice(0, limit), given);
    }
    return json(response, 200, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return node;
}

const DESCRIPTION = { node: clusterNode('broker-1').node, clockMs: NODE_TIME, timeZone: 'UTC', utcOffsetMinutes: 0 };

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function lines(response: ServerResponse, records: readonly ClusterItem[], given: ClusterResponses): void {
  const end = {
    type: 'end',
    reason: 'exhausted',
    records: records.length,
    scannedBytes: 100,
    skippedBytes: 0,
    elapsedMs: 1,
    members: given.members ?? [],
    membership: { kind: 'static', state: 'ok', detail: null, asOfMs: NODE_TIME },
    ...(given.duplicates && { duplicates: given.duplicates }),
    cursor: null,
  };
  const text = [...records, end].map((item) => `${JSON.stringify(item)}\n`).join('');
  response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(text);
}

/** Stays open. */
function follow(response: ServerResponse, items: readonly ClusterFollowItem[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(items.map((item) => `data: ${JSON.stringify(item)}\n\n`).join(''));
}

/** The whole file, as the one range that a download asks for. */
function raw({ method }: IncomingMessage, response: ServerResponse, text: string): void {
  const length = Buffer.byteLength(text);
  const headers = { etag: '"a-1-1"', 'content-length': length, 'content-range': `bytes 0-${length - 1}/${length}` };
  response.writeHead(method === 'HEAD' ? 200 : 206, headers).end(text);
}
