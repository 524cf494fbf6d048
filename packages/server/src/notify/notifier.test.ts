import { createHmac } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ConfigHistory, NodePast } from '@porthole/cluster/past';
import { createZone, LogDir } from '@porthole/logs';
import { eventually, SHARED_THREADS } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { EventLog } from '../events/event-log.ts';
import { parseWebhooks } from '../settings/webhooks.ts';
import { Notifier, type NotifierDeps } from './notifier.ts';

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  atMs: number;
}

type Respond = { status: number; headers?: Record<string, string>; body?: string; afterMs?: number };

/** A receiver of webhooks on a port of its own. */
async function startReceiver(respond: (count: number) => Respond = () => ({ status: 200 })) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part.toString();
    });
    request.on('end', () => {
      received.push({ headers: request.headers, body, atMs: performance.now() });
      const { status, headers = {}, body: text = '', afterMs = 0 } = respond(received.length);
      setTimeout(() => response.writeHead(status, headers).end(text), afterMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const messages = () => received.map(({ body }) => (JSON.parse(body) as { message: string }).message);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received, messages };
}

/** A node with a log of events, and a notifier that can be started again as after a restart. */
async function startNode(
  webhook: Record<string, unknown>,
  { maxBytes = 1024 ** 2, ...given }: Partial<NotifierDeps> & { maxBytes?: number } = {},
) {
  const dir = tempDir();
  const events = await EventLog.open({ dir, maxBytes });
  const logs = new LogDir(dir, { zone: createZone('UTC'), hidden: ['notify-*'], threads: SHARED_THREADS });
  const past = new NodePast({ logs, history: new ConfigHistory(join(dir, 'history')) });
  const { webhooks, problems } = parseWebhooks([{ name: 'ops', ...webhook }], dir);
  expect(problems).toEqual([]);
  const warnings: string[] = [];
  const note = (_tag: string, message: string) => void warnings.push(message);
  const log = { info: note, warn: note, error: note };
  const deps: NotifierDeps = {
    ...{ webhooks, past, dir, cluster: 'test', version: '9', startedMs: Date.now() - 1000, log, firstWaitMs: 20 },
    senders: () => undefined,
    ...given,
  };
  const open: Notifier[] = [];
  const start = async () => {
    const notifier = new Notifier({ ...deps, startedMs: open.length === 0 ? deps.startedMs : Date.now() });
    open.push(notifier);
    await notifier.start('n1');
    return notifier;
  };
  onTestFinished(async () => {
    await Promise.all(open.map((notifier) => notifier.close()));
    await past.close();
    await events.close();
  });
  const write = (message: string, kind: 'config-changed' | 'started' | 'member-lost' = 'config-changed') =>
    events.write({ kind, message, fields: { keys: ['a.b'], member: 'n3', run: 7 } });
  return { dir, events, start, write, warnings };
}

it('events arrive in order, signed, and those of lower levels are not sent', async () => {
  const receiver = await startReceiver();
  const { dir, start, write } = await startNode({ url: receiver.url, 'secret-file': 'secret' });
  writeFileSync(join(dir, 'secret'), 'the key\n');
  write('before the start');
  await start();
  write('one');
  write('not severe', 'started');
  write('two');
  await eventually(() => expect(receiver.messages()).toEqual(['before the start', 'one', 'two']));
  const [{ body, headers }] = receiver.received as [Received];
  expect(JSON.parse(body)).toMatchObject({
    ...{ cluster: 'test', node: 'n1', kind: 'config-changed', level: 'WARN', fields: { keys: ['a.b'] } },
    id: expect.stringMatching(/^n1 /),
  });
  const timestamp = headers['x-porthole-timestamp'];
  const digest = createHmac('sha256', 'the key').update(`${timestamp}.${body}`).digest('hex');
  expect(headers).toMatchObject({ 'x-porthole-signature': `sha256=${digest}`, 'x-porthole-event': 'config-changed' });
});

it('an event that is sent again has the id of the first time, also when the log has grown or was rotated', async () => {
  let isUp = false;
  const receiver = await startReceiver(() => ({ status: isUp ? 200 : 503 }));
  const { dir, start, write } = await startNode({ url: receiver.url });
  const first = await start();
  write('one');
  await eventually(() => expect(receiver.messages()).toContain('one'));
  await first.close();
  for (let n = 0; n < 20; n++) write(`later ${n}`);
  await eventually(() => expect(readFileSync(join(dir, 'events.log'), 'utf8')).toContain('later 19'));
  const second = await start();
  const ids = () => {
    const bodies = receiver.received.map(({ body }) => JSON.parse(body) as { id: string; message: string });
    return bodies.filter(({ message }) => message === 'one').map(({ id }) => id);
  };
  const sent = ids().length;
  await eventually(() => expect(ids().length).toBeGreaterThan(sent));
  await second.close();
  renameSync(join(dir, 'events.log'), join(dir, 'events-2026-11-14T00-00-01.000.log'));
  write('in a new file');
  isUp = true;
  await start();
  await eventually(() => expect(receiver.messages()).toContain('in a new file'));
  expect(new Set(ids()).size).toBe(1);
});

it('events are sent while a disk does not take how far, which is a failing check until it does', async () => {
  const receiver = await startReceiver();
  const { dir, start, write } = await startNode({ url: receiver.url });
  const path = join(dir, 'notify-ops-own.json');
  mkdirSync(path);
  const notifier = await start();
  await eventually(() => expect(notifier.check()).toMatchObject({ ok: false }));
  expect(notifier.check().detail).toMatch(/^webhook ops: /);
  rmdirSync(path);
  write('one');
  write('two');
  await eventually(() => expect(receiver.messages()).toEqual(['one', 'two']));
  await eventually(() => expect(notifier.check()).toMatchObject({ ok: true }));
  mkdirSync(`${path}.aside`);
  rmSync(path);
  renameSync(`${path}.aside`, path);
  write('three');
  write('four');
  await eventually(() => expect(receiver.messages()).toEqual(['one', 'two', 'three', 'four']));
  expect(notifier.check().detail).toContain('how far events were sent cannot be kept');
  rmdirSync(path);
  await eventually(() => expect(notifier.check()).toMatchObject({ ok: true }));
});

it('what was not sent when the node ended is sent when it starts, and nothing else', async () => {
  const receiver = await startReceiver();
  const { start, write } = await startNode({ url: receiver.url });
  const first = await start();
  write('one');
  await eventually(() => expect(receiver.messages()).toEqual(['one']));
  await first.close();
  write('two');
  await start();
  write('three');
  await eventually(() => expect(receiver.messages()).toEqual(['one', 'two', 'three']));
});

it('events of the same millisecond that differ in anything have different ids', async () => {
  const receiver = await startReceiver();
  const { dir, start, events, write } = await startNode({ url: receiver.url });
  write('one');
  await events.flush();
  const path = join(dir, 'events.log');
  const line = readFileSync(path, 'utf8');
  const others = [line.replace('WARN', 'ERROR'), line.replace('a.b', 'a.c'), line.replace('one', 'two')];
  appendFileSync(path, others.join(''));
  await start();
  await eventually(() => expect(receiver.received).toHaveLength(4));
  const sent = receiver.received.map(({ body }) => JSON.parse(body) as { id: string; time: string });
  expect(new Set(sent.map(({ time }) => time)).size).toBe(1);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(4);
});

it('an event whose position was not written any more is sent again, with the same id', async () => {
  const receiver = await startReceiver();
  const { dir, start, write } = await startNode({ url: receiver.url });
  const first = await start();
  write('one');
  await eventually(() => expect(receiver.messages()).toEqual(['one']));
  const path = join(dir, 'notify-ops-own.json');
  await eventually(() => expect(readFileSync(path, 'utf8')).toContain('cursor'));
  const position = readFileSync(path);
  write('two');
  await eventually(() => expect(receiver.messages()).toEqual(['one', 'two']));
  await first.close();
  // Killed after it was sent and before that was written down.
  writeFileSync(path, position);
  await start();
  await eventually(() => expect(receiver.messages()).toEqual(['one', 'two', 'two']));
  const ids = receiver.received.map(({ body }) => (JSON.parse(body) as { id: string }).id);
  expect(ids[1]).toBe(ids[2]);
});

it('a receiver that is busy gets the event again when it has asked for it', async () => {
  const receiver = await startReceiver((count) =>
    count === 1 ? { status: 503, headers: { 'retry-after': '1' } } : { status: 204 },
  );
  const { start, write, warnings } = await startNode({ url: receiver.url });
  await start();
  write('one');
  write('two');
  await eventually(() => expect(receiver.messages()).toEqual(['one', 'one', 'two']));
  const [first, second] = receiver.received as [Received, Received];
  expect(second.atMs - first.atMs).toBeGreaterThan(900);
  expect(warnings).toEqual(['events cannot be sent', 'events are sent again']);
});

it('a receiver that is slow, sends much, or sends elsewhere has failed', async () => {
  const answers: Respond[] = [
    { status: 200, afterMs: 2000 },
    { status: 302, headers: { location: 'http://127.0.0.1:9/' } },
    { status: 500, body: 'x'.repeat(100_000) },
  ];
  const receiver = await startReceiver((count) => answers[count - 1] ?? { status: 200 });
  const { start, write } = await startNode({ url: receiver.url }, { timeoutMs: 300 });
  await start();
  write('one');
  write('two');
  await eventually(() => expect(receiver.messages()).toEqual(['one', 'one', 'one', 'one', 'two']));
});

it('an event that the receiver does not accept does not hold up the others', async () => {
  const receiver = await startReceiver((count) => ({ status: count <= 3 ? 422 : 200 }));
  const { start, write, warnings } = await startNode({ url: receiver.url });
  await start();
  write('one');
  write('two');
  await eventually(() => expect(receiver.messages()).toEqual(['one', 'one', 'one', 'two']));
  expect(warnings).toContain('an event was refused and is not sent');
});

it.each([
  ['the node was down, too', true],
  ['the node was not', false],
])('events that were deleted while the receiver was down are named in their place: %s', async (_name, isRestarted) => {
  let isDown = false;
  const receiver = await startReceiver(() => ({ status: isDown ? 503 : 200 }));
  const { start, write, events } = await startNode({ url: receiver.url }, { maxBytes: 16_384 });
  const first = await start();
  write('sent');
  await eventually(() => expect(receiver.messages()).toEqual(['sent']));
  isDown = true;
  if (isRestarted) await first.close();
  for (let index = 0; index < 400; index++) {
    write(`lost or kept ${index}`);
    await events.flush();
  }
  isDown = false;
  const tried = receiver.received.length;
  if (isRestarted) await start();
  await eventually(() => expect(receiver.messages().at(-1)).toBe('lost or kept 399'));
  // What is held in memory, or was being sent, arrives all the same.
  const after = receiver.messages().slice(tried);
  const [notice, next] = after.slice(after.findIndex((message) => !message.startsWith('lost or kept')));
  const numbers = after.flatMap((message) => /^lost or kept (\d+)$/.exec(message)?.[1] ?? []).map(Number);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  if (numbers.length === 400) return expect(isRestarted).toBe(false);
  expect(notice).toMatch(/^events since \S+ were deleted before they could be sent/);
  expect(next).toMatch(/^lost or kept \d+$/);
});

it('one node sends what concerns the cluster; another one takes over what the first has not sent', async () => {
  const receiver = await startReceiver();
  let turn: 'here' | 'sent' | 'elsewhere' = 'elsewhere';
  const sent: string[] = [];
  const senders = { turn: async () => turn, sent: (...what: string[]) => void sent.push(what.join(' ')) };
  const { start, write } = await startNode({ url: receiver.url }, { senders: () => senders });
  await start();
  write('n3 was lost', 'member-lost');
  write('own');
  await eventually(() => expect(receiver.messages()).toEqual(['own']));
  turn = 'here';
  await eventually(() => expect(receiver.messages()).toEqual(['own', 'n3 was lost']));
  expect(sent).toEqual(['ops member-lost n3 7']);
  turn = 'sent';
  write('sent by another', 'member-lost');
  write('more');
  await eventually(() => expect(receiver.messages()).toEqual(['own', 'n3 was lost', 'more']));
});

it('Slack gets a text without links and mentions', async () => {
  const receiver = await startReceiver();
  const { start, write } = await startNode({ url: receiver.url, format: 'slack', kinds: ['config-changed'] });
  await start();
  write('a <!channel> & more');
  await eventually(() => expect(receiver.received).toHaveLength(1));
  expect(JSON.parse(receiver.received[0]?.body ?? '')).toEqual({
    text: expect.stringMatching(/^\*config-changed\* a &lt;!channel&gt; &amp; more\nn1 · test · \d{4}-/),
  });
});

it('addresses of the machine itself and of clouds are not contacted', async () => {
  const { start, write, warnings } = await startNode({ url: 'http://169.254.169.254/latest' });
  await start();
  write('one');
  await eventually(() => expect(warnings).toEqual(['events cannot be sent']));
});
