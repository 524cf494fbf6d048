import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { eventually, scaled } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { AttackedNode } from './testing/attacked-node.ts';
import { type Behave, json, recordLine, startFakeMember } from './testing/cluster-fake-member.ts';

const MIB = 1024 ** 2;
const BRACKETS = '['.repeat(16 * MIB - 1024);
/** Every route that is asked of one member and comes as a whole. */
const WHOLE = ['config', 'log/list'];

/** A node that asks its member all the time. */
function startNodeWithMember(
  address: string,
  { timeoutMs = scaled(5000), env = {} }: { timeoutMs?: number; env?: Record<string, string> } = {},
): Promise<AttackedNode> {
  const flags = ['--cluster-members', `liar=http://${address}`, '--cluster-refresh', '200ms'];
  return AttackedNode.start({ flags: [...flags, '--cluster-member-timeout', `${timeoutMs}ms`], env });
}

it('a member that responds with brackets alone costs no more than their bytes', async () => {
  let asked = 0;
  const behave: Behave = (_path, response) => {
    asked++;
    response.writeHead(200, { 'content-type': 'application/json' }).end(BRACKETS);
    return true;
  };
  const node = await startNodeWithMember(await startFakeMember({ behave }));
  const memory = node.residentMib;
  await eventually(() => expect(asked).toBeGreaterThan(4));
  for (const route of WHOLE) {
    const { status, text } = await node.request(`api/v1/nodes/liar/${route}`);
    expect([status, JSON.parse(text).code]).toEqual([502, 'BAD_ANSWER']);
  }
  const { text } = await node.request('api/v1/nodes');
  expect(JSON.parse(text).nodes[0]).toMatchObject({ id: 'liar', report: { outcome: 'version' } });
  expect(node.residentMib - memory).toBeLessThan(250);
  await node.expectHealthy();
});

it('a member that sends more than was asked for is cut, on every route that comes in pieces', async () => {
  const sent: Record<string, number> = {};
  const behave: Behave = (path, response) => {
    if (path === '/log/view' || path === '/log/search') {
      const isView = path === '/log/view';
      response.writeHead(200, { 'content-type': isView ? 'text/plain' : 'application/x-ndjson' });
      pour(response, recordLine('again', 1).repeat(1000), (bytes) => {
        sent[path] = (sent[path] ?? 0) + bytes;
      });
      return true;
    }
    return false;
  };
  const node = await startNodeWithMember(await startFakeMember({ behave }));
  const memory = node.residentMib;
  const cases = [
    ['log/view?file=a.log&size=1000', '/log/view'],
    ['log/search?limit=5', '/log/search'],
  ] as const;
  for (const [route, path] of cases) {
    const text = await textUntilCut(`${node.url}api/v1/nodes/liar/${route}`);
    expect(text.length).toBeLessThan(2000);
    expect(text.split('\n').filter((line) => line.includes('again')).length).toBeLessThanOrEqual(10);
    // What is on its way when it is cut: buffers of both sides.
    await eventually(() => expect(sent[path]).toBeGreaterThan(0));
    expect(sent[path]).toBeLessThan(100 * MIB);
  }
  expect(node.residentMib - memory).toBeLessThan(100);
  await node.expectHealthy();
});

it('a member that makes up names of files fills no memory, however long it is followed', async () => {
  const total = 25_000;
  let emitted = 0;
  const behave: Behave = (path, response) => {
    if (path !== '/log/follow') return false;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let count = 0;
    const more = () => {
      while (count < total && !response.destroyed) {
        const name = `${count++}`.padStart(200, 'n');
        const cursor = `${'0'.repeat(16)}.sg.0.0.0.${name.padStart(1800, 'c')}`;
        const record = { type: 'record', file: name, offset: 0, bytes: 1, cursor, message: 'm', raw: 'm' };
        emitted++;
        if (!response.write(`event: record\nid: ${cursor}\ndata: ${JSON.stringify(record)}\n\n`)) return;
      }
    };
    response.on('drain', more);
    more();
    return true;
  };
  // Resident memory also has what is not collected yet. With this limit the node ends if it keeps all names and cursors.
  const env = { NODE_OPTIONS: '--max-old-space-size=72' };
  const node = await startNodeWithMember(await startFakeMember({ behave }), { env });
  // The node records its member: that is the first follow.
  await eventually(() => expect(emitted).toBe(total));
  for (const path of ['api/v1/log/follow?nodes=*', 'api/v1/log/follow?nodes=liar']) {
    emitted = 0;
    const stop = drain(`${node.url}${path}`);
    await eventually(() => expect(emitted).toBeGreaterThanOrEqual(total));
    stop();
  }
  await node.expectHealthy();
});

const BOMB = Buffer.concat(Array(32).fill(gzipSync(Buffer.alloc(16 * MIB, '['))));

it.each<[string, Behave]>([
  [
    'half a gigabyte of brackets in half a megabyte',
    (_path, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(BOMB);
      return true;
    },
  ],
  [
    'a list of ten million empty objects',
    (_path, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(`[${'{},'.repeat(5 * MIB)}{}]`);
      return true;
    },
  ],
  [
    'names without end',
    (_path, response) => {
      json(response, 200, [{ name: 'x'.repeat(8 * MIB), size: 1 }]);
      return true;
    },
  ],
])('a member that responds with %s is reported, and costs little', async (_name, behave) => {
  const node = await startNodeWithMember(await startFakeMember({ behave }));
  const memory = node.residentMib;
  for (const route of ['log/list', 'config']) {
    const { status, text } = await node.request(`api/v1/nodes/liar/${route}`);
    expect([status, JSON.parse(text).code]).toEqual([502, 'BAD_ANSWER']);
    expect(text.length).toBeLessThan(1000);
  }
  expect(node.residentMib - memory).toBeLessThan(250);
  await node.expectHealthy();
});

it.each<[string, (socket: Socket) => void]>([
  ['headers without end', (socket) => pourInto(socket, `HTTP/1.1 200 OK\r\n`, `x-more: ${'y'.repeat(1000)}\r\n`)],
  [
    'an extension of a chunk without end',
    (socket) => pourInto(socket, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;a=', 'x'.repeat(1000)),
  ],
  [
    'an event without end',
    (socket) => pourInto(socket, 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ', 'x'.repeat(1000)),
  ],
  ['text that is not HTTP', (socket) => pourInto(socket, 'SSH-2.0-OpenSSH_9.2 secret banner\r\n', '')],
])('a member that sends %s is reported, and costs little', async (_name, act) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => act(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  // What never ends costs the whole timeout.
  const node = await startNodeWithMember(`127.0.0.1:${(server.address() as AddressInfo).port}`, { timeoutMs: 500 });
  const memory = node.residentMib;
  const { status, text } = await node.request('api/v1/nodes/liar/log/list');
  expect(status).toBeGreaterThanOrEqual(502);
  expect(text).not.toContain('secret');
  expect(node.residentMib - memory).toBeLessThan(150);
  await node.expectHealthy();
});

/** The same again and again, as fast as it is taken. */
function pour(response: ServerResponse, text: string, count: (bytes: number) => void): void {
  const more = () => {
    for (let isTaken = true; isTaken && !response.destroyed; count(text.length)) isTaken = response.write(text);
  };
  response.on('drain', more);
  more();
}

function pourInto(socket: Socket, first: string, again: string): void {
  socket.write(first);
  const more = () => {
    while (again !== '' && !socket.destroyed && socket.write(again));
  };
  socket.on('drain', more);
  more();
}

/** What comes before the connection is cut, which is no end. */
async function textUntilCut(url: string): Promise<string> {
  const response = await fetch(url);
  let text = '';
  const decoder = new TextDecoder();
  const read = async () => {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true });
  };
  if (response.status === 200) await expect(read()).rejects.toThrow();
  return text;
}

/** Reads a response and keeps nothing of it. */
function drain(url: string): () => void {
  const leaving = new AbortController();
  const read = async () => {
    const { body } = await fetch(url, { signal: leaving.signal });
    for await (const _chunk of body ?? []);
  };
  read().catch(() => {}); // ended by the test
  onTestFinished(() => leaving.abort());
  return () => leaving.abort();
}
