import type { IncomingMessage } from 'node:http';
import { type CallOptions, PortholeError, YIELD_MS, YIELD_PAST_MS } from '@porthole/contract';
import { type FollowItem, type FollowQuery, resumeCursor } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { openRequest, requestProblem, sendRequest } from '../../testing/send-request.ts';
import { BatchSource } from '../testing/batch-source.ts';
import { record } from '../testing/records.ts';
import { type ServeOptions, serveRecords } from '../testing/serve-records.ts';
import { cursorId, EventEncoder } from './follow-stream.ts';

const FOLLOW = '/api/v1/log/follow';

const BIG_BATCH: FollowItem[] = [record(1, { message: 'x'.repeat(1024 * 1024) })];
const BIG_COUNT = 64;

async function serve(options?: ServeOptions) {
  const source = new BatchSource<FollowItem>();
  const requests: FollowQuery[] = [];
  const followLogs = (request: FollowQuery, { signal }: CallOptions = {}) => {
    requests.push(request);
    return source.open(signal);
  };
  return { source, requests, ...(await serveRecords({ followLogs }, options)) };
}

/** What has come so far; grows while the response is read. */
function readText(response: IncomingMessage): { text: string; ended: boolean } {
  const read = { text: '', ended: false };
  response.on('data', (part: Buffer) => {
    read.text += part.toString();
  });
  response.once('end', () => {
    read.ended = true;
  });
  response.once('error', () => {});
  return read;
}

/** As the node says it that it is of. */
function toFrame(item: FollowItem): string {
  const id = item.type === 'record' ? `id: ${resumeCursor(item)}\n` : '';
  const ofNode = item.type === 'end' ? item : { ...item, node: 'self' };
  const named = item.type === 'record' ? { node: 'self', ...item } : ofNode;
  return `event: ${item.type}\n${id}data: ${JSON.stringify(named)}\n\n`;
}

describe('a follow', () => {
  it('begins with the retry time, then sends each item as an event', async () => {
    const { port, source } = await serve();
    source.push([], [record(1), record(2)]);
    const response = await openRequest(port, FOLLOW);
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    const read = readText(response);
    const start = `retry: 1000\n\n${toFrame(record(1))}${toFrame(record(2))}`;
    await eventually(() => expect(read.text).toBe(start));
    source.push([{ type: 'missing', family: 'a.log' }]);
    await eventually(() => expect(read.text).toBe(`${start}${toFrame({ type: 'missing', family: 'a.log' })}`));
    response.destroy();
  });

  it('by whoever records the node waits while clients wait for responses, but not for long', async () => {
    const { port, source, slots } = await serve();
    const waits: { mostMs: number; end: () => void }[] = [];
    slots.untilFree = (mostMs) => new Promise((end) => waits.push({ mostMs, end }));
    source.push([], [{ type: 'position', cursor: 'c' }], [record(1)], [record(2)]);
    const read = readText(await openRequest(port, FOLLOW, { headers: { 'porthole-records': 'texts' } }));
    for (const [index, next] of [': position', 'id: c1.', 'id: c2.'].entries()) {
      await eventually(() => expect(waits).toHaveLength(index + 1));
      expect(read.text).not.toContain(next);
      waits[index]?.end();
      await eventually(() => expect(read.text).toContain(next));
    }
    // What was written before is sent with shorter pauses than what is new.
    expect(waits.slice(0, 3).map(({ mostMs }) => mostMs)).toEqual([YIELD_PAST_MS, YIELD_MS, YIELD_MS]);
    waits[3]?.end();
  });

  it('sends a heartbeat after each silence, and loses nothing by it', async () => {
    const { port, source } = await serve({ heartbeatMs: 5 });
    source.push([]);
    const read = readText(await openRequest(port, FOLLOW));
    await eventually(() => expect(read.text.match(/^: still here$/gm)?.length).toBeGreaterThan(2));
    for (let number = 1; number <= 20; number++) {
      source.push([record(number)]);
      await eventually(() => expect(read.text).toContain(`id: c${number}.`));
    }
    const ids = [...read.text.matchAll(/^id: c(\d+)\./gm)].map(([, id]) => Number(id));
    expect(ids).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(read.text.replaceAll(': still here\n\n', '')).toMatch(/^retry: 1000\n\n(event: record\n.*\n.*\n\n)+$/);
  });

  it('resumes after Last-Event-ID, whatever its first request was', async () => {
    const { port, source, requests } = await serve();
    source.push([]);
    await sendRequest(port, `${FOLLOW}?back=10&level=warn`, { method: 'HEAD', headers: { 'last-event-id': 'c5' } });
    expect(requests).toEqual([{ start: { cursor: 'c5' }, minLevel: 'WARN' }]);
  });

  it('that is refused before its first batch is a problem', async () => {
    const { port, source } = await serve();
    source.push(new PortholeError('CURSOR_INVALID', 'that is no cursor'));
    expect(await requestProblem(port, `${FOLLOW}?cursor=x`)).toMatchObject({ status: 400, code: 'CURSOR_INVALID' });
    expect(await requestProblem(port, `${FOLLOW}?back=x`)).toMatchObject({ status: 400, code: 'PARAMETER_INVALID' });
  });

  it('that fails later is cut', async () => {
    const { port, source, cuts } = await serve();
    source.push([], new Error('the disk is gone'));
    await expect(sendRequest(port, FOLLOW)).rejects.toThrow('aborted');
    await eventually(() => expect(cuts).toEqual(['source']));
  });

  it('with HEAD returns the head, and its source is aborted and closed', async () => {
    const { port, source, slots } = await serve();
    source.push([]);
    const { status, headers, body } = await sendRequest(port, FOLLOW, { method: 'HEAD' });
    expect({ status, type: headers['content-type'], bytes: body.length }).toEqual({
      status: 200,
      type: 'text/event-stream',
      bytes: 0,
    });
    await eventually(() => expect({ closed: source.closed, taken: slots.taken }).toEqual({ closed: true, taken: 0 }));
    expect(source.signal?.aborted).toBe(true);
  });

  it('ends when its items end', async () => {
    const { port, source } = await serve();
    source.push([], [{ type: 'end', reason: 'cancelled' }]).end();
    const { body } = await sendRequest(port, FOLLOW);
    expect(body.toString()).toBe(`retry: 1000\n\n${toFrame({ type: 'end', reason: 'cancelled' })}`);
  });
});

describe('a stopping node', () => {
  it('ends every follow with a closing event', async () => {
    const { port, source, slots, cuts, stop } = await serve();
    source.push([], [record(1)]);
    const read = readText(await openRequest(port, FOLLOW));
    await eventually(() => expect(read.text).toContain('id: c1'));
    await stop();
    await eventually(() => expect(read.ended).toBe(true));
    expect(read.text.endsWith(toFrame({ type: 'end', reason: 'stopping' }))).toBe(true);
    await eventually(() => expect({ closed: source.closed, taken: slots.taken }).toEqual({ closed: true, taken: 0 }));
    expect(cuts).toEqual([]);
  });
});

describe('a follower that', () => {
  it('leaves while nothing happens is noticed at once', async () => {
    const { port, source, slots, cuts } = await serve();
    source.push([]);
    const response = await openRequest(port, FOLLOW);
    readText(response);
    await eventually(() => expect(source.requested).toBe(2));
    response.destroy();
    await eventually(() => expect(source.closed).toBe(true));
    await eventually(() => expect({ cuts, taken: slots.taken }).toEqual({ cuts: ['client'], taken: 0 }));
  });

  it('receives nothing for longer than http.stall-timeout is not disconnected', async () => {
    const { port, source, cuts } = await serve({ stallTimeoutMs: 30 });
    source.push([]);
    const read = readText(await openRequest(port, FOLLOW));
    for (const number of [1, 2]) {
      await new Promise((resolve) => setTimeout(resolve, 100)); // pause: the silence itself is looked at
      source.push([record(number)]);
      await eventually(() => expect(read.text).toContain(`id: c${number}.`));
    }
    expect(cuts).toEqual([]);
  });

  it('does not read holds its source, and is cut after http.stall-timeout', async () => {
    const { port, source, cuts, slots } = await serve({ stallTimeoutMs: 100, heartbeatMs: 5 });
    source.push([], ...Array.from({ length: BIG_COUNT }, () => BIG_BATCH));
    const response = await openRequest(port, FOLLOW);
    await eventually(() => expect(cuts).toEqual(['stalled']));
    expect(source.requested).toBeLessThan(BIG_COUNT / 2);
    await eventually(() => expect({ closed: source.closed, taken: slots.taken }).toEqual({ closed: true, taken: 0 }));
    response.destroy();
  });
});

describe('server-sent events', () => {
  const others: FollowItem[] = [
    { type: 'rotated', family: 'a.log', from: 'a.log.1', to: 'a.log' },
    { type: 'truncated', file: 'a.log', lostBytes: null },
    { type: 'gap', family: 'a.log', reason: 'slow', bytes: 10, after: 'c1', until: 'c2' },
    { type: 'missing', family: 'a.log' },
    { type: 'end', reason: 'stopping' },
  ];

  it('of a record carry as their id its cursor, and how far it was delivered', () => {
    const item = record(7, { message: 'a\nb\r\n\nid: forged' });
    const text = new EventEncoder(cursorId).encode([item]).toString();
    expect(text).toBe(`event: record\nid: ${resumeCursor(item)}\ndata: ${JSON.stringify(item)}\n\n`);
    expect(text.split('\n')).toHaveLength(5);
  });

  it.each(others)('of type $type have no id, so that a client resumes after a record', (item) => {
    expect(new EventEncoder(cursorId).encode([item]).toString()).toBe(
      `event: ${item.type}\ndata: ${JSON.stringify(item)}\n\n`,
    );
  });

  it('of a batch stand one after the other', () => {
    const encoder = new EventEncoder(cursorId);
    const items = [record(1), ...others, record(2)];
    expect(encoder.encode(items).toString()).toBe(items.map((item) => encoder.encode([item])).join(''));
    expect(encoder.encode([])).toHaveLength(0);
  });

  it('write a record that goes to many out once', () => {
    const encoder = new EventEncoder(cursorId);
    let written = 0;
    const item = Object.assign(record(1), {
      toJSON: () => {
        written++;
        return { type: 'record' };
      },
    });
    for (let follower = 0; follower < 500; follower++) encoder.encode([item]);
    encoder.encode([item, record(2)]);
    expect(written).toBe(1);
  });
});
