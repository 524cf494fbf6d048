import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createClient } from '@porthole/client';
import { startOddServer } from '@porthole/client/testing';
import type { ClusterEnd, ClusterRecord } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

const NODE = { hostIp: '', hostName: 'm', grpcPort: 0, httpPort: 1, version: '0.1.0', onlineTime: 1 };
const RECORDS = 3;
const START_MS = Date.parse('2026-11-10T00:00:00Z');

/** As irregular as the real ones, which do not get shorter when they are packed. */
function mark(member: string, log: number, at: number): string {
  const hash = createHash('sha256').update(`${member} ${log}`).digest('hex').slice(0, 16);
  return `${hash}.sg.${(at * 1_234_567).toString(36)}.1xyz${at}.1s.${Buffer.from(`service-${log}.log`).toString('base64url')}`;
}

/** The records of a member, oldest first: its logs in turn. */
function recordsOf(member: string, logs: number) {
  const offsetMs = Number(member.slice(1));
  return Array.from({ length: RECORDS * logs }, (_, at) => ({
    type: 'record',
    file: `service-${at % logs}.log`,
    offset: at,
    bytes: 10,
    cursor: mark(member, at % logs, at),
    message: `${member} ${at}`,
    timeMs: START_MS + at * 10_000 + offsetMs,
  }));
}

/** All members behind one port, each below its own path. */
async function startMembers(logs: number) {
  const respond = (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://h');
    const [, member = '', path = ''] = /^\/(m\d+)(\/.*)$/.exec(pathname) ?? [];
    const json = (value: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (path === '/health/live') return json({ status: 'ok' });
    if (path === '/api/v1/node') return json({ node: NODE, clockMs: Date.now(), capabilities: [] });
    if (path === '/api/v1/log/files') return json({ files: [], members: [] });
    if (path !== '/api/v1/log/search') return response.writeHead(404).end();
    const limit = Number(searchParams.get('limit'));
    const all = recordsOf(member, logs);
    const marks = new Set(searchParams.get('cursor')?.split('~'));
    const from = all.findLastIndex(({ cursor }) => marks.has(cursor)) + 1;
    const found = all.slice(from, from + limit);
    const isCut = from + limit < all.length;
    const cursors = new Map(all.slice(0, from + limit).map(({ file, cursor }) => [file, cursor]));
    const end = {
      type: 'end',
      reason: isCut ? 'limit' : 'exhausted',
      records: found.length,
      scannedBytes: 1,
      skippedBytes: 0,
      scannedFiles: 1,
      coveredFromMs: null,
      coveredToMs: null,
      problems: [],
      cursor: isCut ? [...cursors.values()].join('~') : null,
      elapsedMs: 0,
    };
    const lines = [...found, end].map((item) => `${JSON.stringify(item)}\n`);
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(lines.join(''));
  };
  return startOddServer(respond);
}

async function startCluster(count: number, logs: number) {
  const { url } = await startMembers(logs);
  const members = Array.from({ length: count }, (_, at) => `m${at + 1}=${url}/m${at + 1}`);
  const day = { refreshMs: 86_400_000, firstBatchTimeoutMs: 60_000, memberTimeoutMs: 60_000 };
  return startTestNode({ settings: { cluster: { nodeId: 'asked', members, recorders: 0, ...day } } });
}

async function page(port: number, query: string) {
  const { status, body } = await sendRequest(port, `/api/v1/log/search?nodes=*&order=oldest&${query}`);
  expect(status).toBe(200);
  const items = body
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ClusterRecord | ClusterEnd);
  const end = items.at(-1) as ClusterEnd;
  expect(end.members.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
  return { records: items.slice(0, -1) as ClusterRecord[], end };
}

describe.each([
  [400, 1],
  [43, 6],
])('over %i members with %i logs each', (count, logs) => {
  it('the next page has a cursor of less than 2,000 characters, and can be requested by its URL', async () => {
    const { port } = await startCluster(count, logs);
    const limit = Math.ceil((count * logs * RECORDS) / 2);
    const first = await page(port, `limit=${limit}`);
    const { cursor } = first.end;
    expect(cursor?.length).toBeLessThan(2000);
    const second = await page(port, `limit=${limit}&cursor=${cursor}`);
    const messages = [...first.records, ...second.records].map(({ message }) => message);
    expect(messages).toHaveLength(count * logs * RECORDS);
    expect(new Set(messages).size).toBe(messages.length);
    const client = createClient({ url: `http://127.0.0.1:${port}` });
    const again: string[] = [];
    const query = { order: 'oldest', limit, before: 0, after: 0, start: { cursor: cursor ?? '' } } as const;
    for await (const items of client.search({ nodes: ['*'], ...query }))
      for (const item of items) if (item.type === 'record') again.push(item.message);
    // Sorted: all have the same times, and clocks are measured anew now and then.
    expect(again.toSorted()).toEqual(second.records.map(({ message }) => message).toSorted());
  });
});
