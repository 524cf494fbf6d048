import { eventually } from '@porthole/logs/testing';
import type { FollowItem } from '@porthole/logs/types';
import { describe, expect, it } from 'vitest';
import { byteByByte } from '../testing/byte-by-byte.ts';
import { catchFailure } from '../testing/catch-failure.ts';
import { collectFollow } from '../testing/collect-follow.ts';
import { type Handler, respondWith, SSE_HEADERS, startOddServer } from '../testing/odd-server.ts';
import { testClock, testMember } from '../testing/test-client.ts';

const record = (file: string, cursor: string, message = cursor) =>
  `event: record\nid: ${cursor}\ndata: ${JSON.stringify({ type: 'record', file, cursor, message })}\n\n`;
const STOPPING = 'event: end\ndata: {"type":"end","reason":"stopping"}\n\n';

/** Handles the n-th request with the n-th handler; the last one handles the rest. */
const inTurn =
  (...handlers: Handler[]): Handler =>
  (request, response, number) =>
    (handlers[number - 1] ?? handlers.at(-1))?.(request, response, number);
const events =
  (text: string): Handler =>
  (_request, response) => {
    response.writeHead(200, SSE_HEADERS).write(text);
  };
const cutEvents =
  (text: string): Handler =>
  (_request, response) => {
    response.writeHead(200, SSE_HEADERS).write(text, () => response.destroy());
  };
const asked = (request = '') => Object.fromEntries(new URL(request.slice(4), 'http://node').searchParams);

describe('a follow', () => {
  it('emits an empty batch when it is accepted, then the records', async () => {
    const odd = await startOddServer(events(`retry: 1000\n\n${record('a.log', 'a1')}`));
    const batches = testMember({ url: odd.url }).followLogs({ src: ['a.log'], start: { back: 1 } });
    const got: FollowItem[][] = [];
    for await (const items of batches) {
      got.push(items);
      if (items.length > 0) break;
    }
    expect(got).toEqual([[], [{ type: 'record', file: 'a.log', cursor: 'a1', message: 'a1' }]]);
    expect(odd.requests).toEqual(['GET /api/v1/log/follow?src=a.log&back=1']);
    await eventually(() => expect(odd.aborted).toBe(1));
  });

  it('events and characters split between chunks stay whole', async () => {
    const text = `retry: 1000\n\n: still here\n\n${record('a.log', 'a1', 'grüße 日本')}`;
    const client = testMember({ url: 'http://node', fetch: byteByByte(text, SSE_HEADERS) });
    for await (const items of client.followLogs({ start: 'end' })) {
      if (items.length === 0) continue;
      expect(items).toMatchObject([{ message: 'grüße 日本' }]);
      break;
    }
  });

  it('resumes after the newest record of each log, oldest first, and reports the loss', async () => {
    const first = record('a.log', 'a1') + record('b.log', 'b1') + record('a.log', 'a2');
    const odd = await startOddServer(
      inTurn(cutEvents(`retry: 700\n\n${first}event: record\nid: b2\ndata: {"typ`), events(record('b.log', 'b2'))),
    );
    const clock = testClock();
    const follow = collectFollow(testMember({ url: odd.url }, clock), { start: 'end' });
    await eventually(() => expect(follow.messages('b.log')).toEqual(['b1', 'b2']));
    expect(follow.messages('a.log')).toEqual(['a1', 'a2']);
    expect(follow.items[3]).toMatchObject({ type: 'reconnecting', waitMs: 700 });
    expect(odd.headers[1]?.['last-event-id']).toBe('b1~a2');
    expect(clock.waits).toEqual([700]);
  });

  it('logs without records so far resume at the start of the follow, by the clock of the node', async () => {
    const odd = await startOddServer(inTurn(cutEvents('retry: 5000\n\n'), events('')));
    const follow = collectFollow(testMember({ url: odd.url }), { start: 'end' });
    await eventually(() => expect(odd.requests).toHaveLength(2));
    expect(asked(odd.requests[1])).toEqual({ time: '6000ms' });
    expect(odd.headers[1]?.['last-event-id']).toBeUndefined();
    expect(follow.count('reconnecting')).toBe(1);
  });

  it.each([
    ['a time', { timeMs: 5000 }, { time: '@5.000' }, undefined],
    ['a cursor', { cursor: 'a0' }, { time: '1200ms' }, 'a0'],
    ['so many back', { back: 7 }, { back: '7' }, undefined],
  ] as const)('one that started at %s and emitted nothing starts there again', async (_name, start, parameters, id) => {
    const odd = await startOddServer(inTurn(cutEvents(''), events('')));
    collectFollow(testMember({ url: odd.url }), { start });
    await eventually(() => expect(odd.requests).toHaveLength(2));
    expect(asked(odd.requests[1])).toEqual(parameters);
    expect(odd.headers[1]?.['last-event-id']).toBe(id);
  });

  it('one that found nothing back and was quiet since resumes at its start', async () => {
    const odd = await startOddServer(inTurn(cutEvents('retry: 5000\n\n: still here\n\n'), events('')));
    collectFollow(testMember({ url: odd.url }), { start: { back: 7 } });
    await eventually(() => expect(odd.requests).toHaveLength(2));
    expect(asked(odd.requests[1])).toMatchObject({ time: expect.stringMatching(/^\d+ms$/) });
  });

  it('a start cursor stays the position of logs without records so far', async () => {
    const odd = await startOddServer(inTurn(cutEvents(record('b.log', 'b9')), events('')));
    collectFollow(testMember({ url: odd.url }), { start: { cursor: 'a0~b0' } });
    await eventually(() => expect(odd.requests).toHaveLength(2));
    expect(odd.headers[1]?.['last-event-id']).toBe('a0~b0~b9');
  });

  it('of more logs than a header can name all are named, in the body of a POST', async () => {
    const many = Array.from({ length: 300 }, (_, index) => record(`${index}.log`, `${index}`.padStart(60, '0')));
    let body = '';
    const read: Handler = (request, response, number) => {
      request.on('data', (part: Buffer) => {
        body += part.toString();
      });
      events('')(request, response, number);
    };
    const odd = await startOddServer(inTurn(cutEvents(many.join('')), read));
    collectFollow(testMember({ url: odd.url }), { start: 'end', src: ['x'], terms: ['a', 'b'] });
    await eventually(() => expect(body).toContain('}'));
    expect(odd.requests[1]).toBe('POST /api/v1/log/follow');
    expect(odd.headers[1]).toMatchObject({ 'content-type': 'application/json' });
    const { 'Last-Event-ID': id, ...others } = JSON.parse(body) as Record<string, string>;
    expect(id?.split('~').map(Number)).toEqual(Array.from({ length: 300 }, (_, index) => index));
    expect(others).toEqual({ src: 'x', q: ['a', 'b'], time: expect.stringMatching(/ms$/) });
  });

  it('of more logs than a header can name the newest are named to a node that takes no POST', async () => {
    const many = Array.from({ length: 300 }, (_, index) => record(`${index}.log`, `${index}`.padStart(60, '0')));
    const refusal = respondWith(405, '{"code":"METHOD_NOT_ALLOWED","detail":"use GET"}');
    const odd = await startOddServer(inTurn(cutEvents(many.join('')), refusal, events('')));
    collectFollow(testMember({ url: odd.url }), { start: 'end' });
    await eventually(() => expect(odd.requests).toHaveLength(3));
    const named = String(odd.headers[2]?.['last-event-id']).split('~').map(Number);
    expect(named).toEqual(Array.from({ length: named.length }, (_, index) => 300 - named.length + index));
    expect(named.length).toBeGreaterThan(50);
    // Those left out would be emitted again from a time that early.
    expect(asked(odd.requests[2])).toEqual({});
  });

  it('a node that stops, or ends the response, is requested again', async () => {
    const ended: Handler = (_request, response) => response.writeHead(200, SSE_HEADERS).end();
    const odd = await startOddServer(inTurn(events(STOPPING), ended, events(record('a.log', 'a1'))));
    const follow = collectFollow(testMember({ url: odd.url }), { start: 'end' });
    await eventually(() => expect(follow.messages('a.log')).toEqual(['a1']));
    const reasons = follow.items.flatMap((item) => (item.type === 'reconnecting' ? [item.reason] : []));
    expect(reasons).toEqual(['the node is stopping', 'the node ended the response']);
    expect(follow.count('end')).toBe(0);
  });

  it('reconnects however often it fails, with growing delays, until something arrives', async () => {
    const refuse = respondWith(503, '');
    const odd = await startOddServer(
      inTurn(cutEvents(record('a.log', 'a1')), refuse, refuse, refuse, cutEvents(record('a.log', 'a2')), events('')),
    );
    const clock = testClock();
    const client = testMember({ url: odd.url, retries: 0, backoffMs: 100, maxBackoffMs: 300 }, clock);
    collectFollow(client, { start: 'end' });
    await eventually(() => expect(odd.requests).toHaveLength(6));
    expect(clock.waits).toEqual([100, 200, 300, 300, 100]);
  });

  it('silence is a loss, unless heartbeats arrive', async () => {
    const odd = await startOddServer(
      inTurn(
        (_request, response) => {
          response.writeHead(200, SSE_HEADERS);
          let beats = 20;
          const beat = setInterval(() => {
            if (beats-- > 0) response.write(': still here\n\n');
          }, 20);
          response.once('close', () => clearInterval(beat));
        },
        events(record('a.log', 'a1')),
      ),
    );
    const follow = collectFollow(testMember({ url: odd.url, stallMs: 200 }), { start: 'end' });
    await eventually(() => expect(follow.messages('a.log')).toContain('a1'));
    expect(follow.items[0]).toMatchObject({ reason: expect.stringContaining('sent no byte for 200 ms') });
  });

  it('the first connection has limited retries', async () => {
    const odd = await startOddServer((_request, response) => response.destroy());
    const error = await catchFailure(testMember({ url: odd.url, retries: 2 }).followLogs({ start: 'end' }));
    expect(error).toMatchObject({ code: 'UNREACHABLE' });
    expect(odd.requests).toHaveLength(3);
  });

  it('a token that is no longer valid ends it', async () => {
    const handler = respondWith(401, '{"code":"UNAUTHENTICATED","detail":"no"}');
    const later = await startOddServer(inTurn(cutEvents(record('a.log', 'a1')), handler));
    const follow = collectFollow(testMember({ url: later.url }), { start: 'end' });
    expect(await catchFailure(follow.done)).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(later.requests).toHaveLength(2);
  });

  it.each(['CURSOR_GONE', 'CURSOR_INVALID'])(
    'a position that the node does not know any more (%s) is a gap: it continues by the time of the newest record',
    async (code) => {
      const timed = `id: a1\ndata: ${JSON.stringify({ type: 'record', file: 'a.log', cursor: 'a1', message: 'a1', timeMs: 5000 })}\n\n`;
      const refusal = respondWith(code === 'CURSOR_GONE' ? 410 : 400, JSON.stringify({ code, detail: 'gone' }));
      const odd = await startOddServer(inTurn(cutEvents(timed), refusal, events(record('a.log', 'a2'))));
      const follow = collectFollow(testMember({ url: odd.url }), { src: ['a.log'], start: 'end' });
      await eventually(() => expect(follow.messages('a.log')).toContain('a2'));
      expect(follow.count('gap')).toBe(1);
      expect(asked(odd.requests[2])).toEqual({ src: 'a.log', time: '5000' });
      expect(odd.headers[2]?.['last-event-id']).toBeUndefined();
    },
  );

  it.each([
    [
      'a log that is missing',
      respondWith(404, '{"code":"LOG_FAMILY_NOT_FOUND","detail":"gone"}'),
      'LOG_FAMILY_NOT_FOUND',
    ],
    ['a page', respondWith(200, '<html>', { 'content-type': 'text/html' }), 'NOT_SUPPORTED'],
    ['something else', respondWith(200, '[]', { 'content-type': 'application/json' }), 'BAD_ANSWER'],
  ] as const)(
    '%s is thrown at first; later it is tried again for as long as it takes',
    async (_name, handler, code) => {
      const atFirst = await startOddServer(handler);
      expect(await catchFailure(testMember({ url: atFirst.url }).followLogs({ start: 'end' }))).toMatchObject({ code });
      expect(atFirst.requests).toHaveLength(1);
      const later = await startOddServer(
        inTurn(cutEvents(record('a.log', 'a1')), handler, cutEvents(record('a.log', 'a2')), events('')),
      );
      const follow = collectFollow(testMember({ url: later.url }), { start: 'end' });
      await eventually(() => expect(follow.messages('a.log')).toEqual(['a1', 'a2']));
      await follow.stop();
    },
  );

  it('an endless event is not collected forever', async () => {
    const odd = await startOddServer((_request, response) => {
      response.writeHead(200, SSE_HEADERS).write('data: ');
      const pour = () => {
        while (response.write('x'.repeat(10_000)));
      };
      response.on('drain', pour);
      pour();
    });
    const client = testMember({ url: odd.url, maxItemBytes: 100_000 });
    const error = await catchFailure(client.followLogs({ start: 'end' }));
    expect(error).toMatchObject({ code: 'BAD_ANSWER', message: expect.stringContaining('maxItemBytes (100000)') });
    await eventually(() => expect(odd.aborted).toBe(1));
  });
});

describe('the signal ends a follow with an end', () => {
  const CANCELLED = { type: 'end', reason: 'cancelled' };

  it('before it started', async () => {
    const odd = await startOddServer(events(''));
    const items: FollowItem[] = [];
    const batches = testMember({ url: odd.url }).followLogs({ start: 'end' }, { signal: AbortSignal.abort() });
    for await (const batch of batches) items.push(...batch);
    expect(items).toEqual([CANCELLED]);
    expect(odd.requests).toEqual([]);
  });

  it('while it is connected', async () => {
    const odd = await startOddServer(events(record('a.log', 'a1')));
    const follow = collectFollow(testMember({ url: odd.url }), { start: 'end' });
    await eventually(() => expect(follow.items).toHaveLength(1));
    await follow.stop();
    expect(follow.items.at(-1)).toEqual(CANCELLED);
    await eventually(() => expect(odd.aborted).toBe(1));
  });

  it('while it waits to reconnect', async () => {
    const odd = await startOddServer(inTurn(cutEvents(''), respondWith(503, '')));
    const clock = testClock();
    clock.wait = (_ms, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    const follow = collectFollow(testMember({ url: odd.url }, clock), { start: 'end' });
    await eventually(() => expect(follow.count('reconnecting')).toBe(1));
    await follow.stop();
    expect(follow.items.at(-1)).toEqual(CANCELLED);
  });
});
