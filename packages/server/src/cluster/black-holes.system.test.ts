import { readdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type Client, createClient } from '@porthole/client';
import { startOddServer } from '@porthole/client/testing';
import { type ClusterEnd, type ClusterNodes, HEARTBEAT_HEADER, type MemberReport } from '@porthole/contract';
import { pathOfAll } from '@porthole/contract/testing';
import { eventually } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { requestJson, sendRequest } from '../testing/send-request.ts';
import { countConnections, startTestNode } from '../testing/test-node.ts';

const NODE = { hostIp: '', hostName: 'm', grpcPort: 0, httpPort: 1, version: '0.1.0', onlineTime: 1 };
const OWN = '2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: of the node itself\n';
const FOUND = {
  ...{ type: 'record', file: 'a.log', offset: 0, bytes: 60, cursor: '0123456789abcdef.sg.0.0.0.YS5sb2c' },
  ...{ message: 'of the member', raw: '2026-11-15 04:00:00.000\tINFO\ta.go:1\t[A]: of the member', timeMs: 1 },
};
const END = {
  ...{ type: 'end', reason: 'exhausted', records: 1, scannedBytes: 1, skippedBytes: 0, scannedFiles: 1 },
  ...{ coveredFromMs: null, coveredToMs: null, problems: [], cursor: null, elapsedMs: 0 },
};
const FILE = { name: 'a.log', size: 9, family: 'a.log', modifiedMs: 1, state: 'live', format: 'contract' };

/** Until it has sent nothing for so long that it is lost, it is slow. */
const LATE = expect.stringMatching(/^(?:slow|timeout)$/);

/** It is known to be silent: it was not asked. */
const IS_SILENT = /^no response for \d+ s; it is asked in the background/;

/** What a response is: whole, its head and nothing else, or nothing at all. */
type Mode = 'whole' | 'head' | 'nothing';

const RESPONSES: Readonly<Record<string, readonly [type: string, body: () => string]>> = {
  '/api/v1/node': ['application/json', () => JSON.stringify({ node: NODE, clockMs: Date.now(), capabilities: [] })],
  '/api/v1/config': ['application/json', () => JSON.stringify({ node: NODE, config: 'a = 1\n' })],
  '/api/v1/log/list': ['application/json', () => JSON.stringify([{ name: 'a.log', size: 9 }])],
  '/api/v1/log/files': ['application/json', () => JSON.stringify({ files: [FILE], members: [] })],
  '/api/v1/log/view': ['text/plain', () => 'text\n'],
  '/api/v1/log/search': ['application/x-ndjson', () => `${JSON.stringify(FOUND)}\n${JSON.stringify(END)}\n`],
  '/api/v1/log/follow': ['text/event-stream', () => `retry: 1000\n\nevent: record\ndata: ${JSON.stringify(FOUND)}\n\n`],
};

/** A member whose responses stop at a point, until it goes on. It closes no connection by itself. */
async function startMember() {
  const state = { mode: 'whole' as Mode, beats: true, follows: [] as ServerResponse[], held: [] as (() => void)[] };
  const server = await startOddServer((request: IncomingMessage, response: ServerResponse) => {
    const path = request.url?.split('?')[0] ?? '';
    const [type, body] = RESPONSES[path] ?? ['application/json', () => '{}'];
    // Promises more heartbeats than it was asked for, so that the test need not wait for seconds.
    const beat = path === '/api/v1/log/follow' && state.beats && { [HEARTBEAT_HEADER]: '200' };
    const sendHead = () => {
      response.writeHead(path in RESPONSES ? 200 : 404, { 'content-type': type, ...beat });
      response.flushHeaders();
    };
    const sendBody = () => {
      if (path !== '/api/v1/log/follow') return response.end(body());
      state.follows.push(response);
      return response.write(body());
    };
    const { mode } = state;
    if (mode !== 'nothing') sendHead();
    if (mode === 'whole') sendBody();
    else
      state.held.push(() => {
        if (mode === 'nothing') sendHead();
        sendBody();
      });
  });
  const goOn = () => {
    state.mode = 'whole';
    for (const send of state.held.splice(0)) send();
  };
  return { ...server, state, goOn };
}

/** A node with one member, which it knows well: it records it. */
async function startPair({ isRecorded = true } = {}) {
  const member = await startMember();
  const refreshMs = isRecorded ? 200 : 86_400_000;
  const { port, running, dir } = await startTestNode({
    files: { 'a.log': OWN },
    settings: {
      cluster: {
        ...{ nodeId: 'self', members: [`m=${member.url}`], refreshMs, recorders: isRecorded ? 1 : 0 },
        ...{ firstBatchTimeoutMs: 500, memberTimeoutMs: 1000 },
      },
    },
  });
  const client = createClient({ url: running.url, retries: 0 });
  await eventually(async () => expect((await search(port)).report).toMatchObject({ outcome: 'ok', count: 1 }));
  if (isRecorded) await eventually(() => expect(readdirSync(join(dir, 'recorded', 'm', 'log'))).toHaveLength(1));
  return { member, port, client };
}

async function search(port: number, query = ''): Promise<{ messages: string[]; report: MemberReport | undefined }> {
  const { body } = await sendRequest(port, `/api/v1/log/search?nodes=*&order=oldest&budget=200ms${query}`);
  const items = body
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { members } = items.at(-1) as ClusterEnd;
  return { messages: items.slice(0, -1).map(({ message }) => message), report: members.find(({ id }) => id === 'm') };
}

/** What a follow of the cluster has reported of the member. */
async function followMember(client: Client) {
  const reports: MemberReport[] = [];
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const batches = client.follow({ nodes: ['*'], start: 'end' }, { signal: leaving.signal })[Symbol.asyncIterator]();
  await batches.next();
  const read = async () => {
    for (;;) {
      const { done, value } = await batches.next();
      if (done) return;
      for (const item of value) if (item.type === 'member' && item.node === 'm') reports.push(item.report);
    }
  };
  void read().catch(() => {}); // it ends with the test
  return { reports };
}

it.each(['nothing', 'head'] as const)(
  'a member that sends %s costs few searches their deadline, keeps no connection, and is back with its first bytes',
  async (mode) => {
    const { member, port } = await startPair();
    member.state.mode = mode;
    // What was recorded is searched instead.
    await eventually(async () => {
      const { messages, report } = await search(port);
      expect(messages).toEqual(['of the member', 'of the node itself']);
      expect(report).toMatchObject({ outcome: 'timeout', state: 'unreachable', count: 1 });
      expect(report?.detail).toMatch(IS_SILENT);
    });
    const asked = member.requests.filter((line) => line.includes('/log/search')).length;
    for (let times = 0; times < 12; times++) await search(port);
    expect(member.requests.filter((line) => line.includes('/log/search'))).toHaveLength(asked);
    // One that asks whether it is back.
    await eventually(() => expect(countConnections(member.port)).toBeLessThanOrEqual(1));
    member.goOn();
    await eventually(async () => expect((await search(port)).report).toMatchObject({ outcome: 'ok', asOfMs: null }));
  },
);

it('of a member that sends its head the other records are emitted, and it is not taken for an answer', async () => {
  const { member, port } = await startPair({ isRecorded: false });
  member.state.mode = 'head';
  const { messages, report } = await search(port, '&limit=1');
  expect(messages).toEqual(['of the node itself']);
  expect(report).toMatchObject({ outcome: LATE, count: 0 });
});

it('a view of a member that sends its head is refused with the reason', async () => {
  const { member, port } = await startPair({ isRecorded: false });
  member.state.mode = 'head';
  const { status, body } = await sendRequest(port, '/api/v1/nodes/m/log/view?file=a.log&size=10');
  expect([status, JSON.parse(body.toString()).code]).toEqual([504, 'DEADLINE_EXCEEDED']);
});

it.each(['log/histogram', 'log/digest', 'log/fields', 'log/top?by=level', 'log/files', 'config/diff'])(
  'a member that sends its head and stops is not ok in %s',
  async (path) => {
    const { member, port } = await startPair({ isRecorded: false });
    member.state.mode = 'head';
    const { members } = await requestJson<{ members: MemberReport[] }>(port, pathOfAll(path));
    const { outcome, count, asOfMs } = members.find(({ id }) => id === 'm') ?? {};
    // The configuration that it had before may be known, and is labelled.
    const isKnown = path === 'config/diff' && asOfMs !== null;
    expect([outcome, isKnown || count === 0]).toEqual([LATE, true]);
  },
);

it('nor in the records around a time', async () => {
  const { member, port } = await startPair({ isRecorded: false });
  member.state.mode = 'head';
  const { body } = await sendRequest(port, '/api/v1/log/around?nodes=*&time=2026-11-15T05:00:00Z');
  const { members } = JSON.parse(body.toString().trim().split('\n').at(-1) ?? '') as ClusterEnd;
  expect(members.find(({ id }) => id === 'm')).toMatchObject({ outcome: LATE, count: 0 });
});

it('what a search learns of a silent member, counts and lists know at once', async () => {
  const { member, port } = await startPair({ isRecorded: false });
  member.state.mode = 'head';
  await eventually(async () => expect((await search(port)).report?.detail).toMatch(IS_SILENT));
  for (const path of ['log/histogram', 'log/digest', 'log/fields', 'log/top?by=level', 'config/diff', 'log/files']) {
    const { members } = await requestJson<{ members: MemberReport[] }>(port, pathOfAll(path));
    expect(members.find(({ id }) => id === 'm')?.detail).toMatch(IS_SILENT);
  }
  const { nodes } = await requestJson<ClusterNodes>(port, '/api/v1/nodes');
  expect(nodes.find(({ id }) => id === 'm')).toMatchObject({ state: 'unreachable', report: { outcome: 'timeout' } });
});

it('a follow reports a member that sends not even a heartbeat, and reports it again when it sends something', async () => {
  const { member, port, client } = await startPair({ isRecorded: false });
  const { follows } = member.state;
  const { reports } = await followMember(client);
  const outcomes = () => reports.map(({ outcome }) => outcome);
  await eventually(() => expect(follows).toHaveLength(1));
  // It agreed to send heartbeats, and does not.
  await eventually(() => expect(outcomes()).toEqual([LATE]));
  expect(reports[0]?.detail).toContain('sent no byte for 500 ms');
  await eventually(() => expect(outcomes()).toEqual([LATE, 'ok']));
  member.state.mode = 'head';
  // A search knows it from the follow.
  await eventually(async () => expect((await search(port)).report?.detail).toMatch(IS_SILENT));
  // That heads come is no news.
  const asked = member.requests.length;
  await eventually(() => expect(member.requests.length).toBeGreaterThan(asked));
  expect(outcomes()).toEqual([LATE, 'ok', LATE]);
  member.goOn();
  await eventually(() => expect(outcomes().slice(0, 4)).toEqual([LATE, 'ok', LATE, 'ok']));
});

it('a member that promises no heartbeat is not taken for silent', async () => {
  const { member, client } = await startPair({ isRecorded: false });
  member.state.beats = false;
  const { reports } = await followMember(client);
  await eventually(() => expect(member.state.follows).toHaveLength(1));
  await new Promise((resolve) => setTimeout(resolve, 700)); // pause: longer than another is taken for silent
  expect(reports).toEqual([]);
  expect(member.state.follows[0]?.destroyed).toBe(false);
});
