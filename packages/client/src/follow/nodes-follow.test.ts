import { type ClusterFollowItem, encodeFollow, type MemberSelection } from '@porthole/contract';
import type { FollowQuery } from '@porthole/logs/types';
import { describe, expect, it } from 'vitest';
import { catchFailure } from '../testing/catch-failure.ts';
import { type Handler, JSON_HEADERS, respondWith, SSE_HEADERS, startOddServer } from '../testing/odd-server.ts';
import { testClient, testClock } from '../testing/test-client.ts';
import { FollowPosition } from './follow-position.ts';

const NOW = Date.UTC(2026, 10, 15, 12);

const event = (item: unknown) => `data: ${JSON.stringify(item)}\n\n`;
const record = (node: string, cursor: string, atMs?: number, more = {}) =>
  event({ type: 'record', node, file: 'a.log', cursor, message: `${node} ${cursor}`, ...(atMs && { atMs }), ...more });

/** Responds to the n-th request with the n-th text and cuts it there; the last one stays open. */
const inTurn =
  (...texts: string[]): Handler =>
  (_request, response, number) => {
    response.writeHead(200, SSE_HEADERS).write(texts[number - 1] ?? '', () => {
      if (number < texts.length) response.destroy();
    });
  };

/** What is emitted up to the last expected record, and the requests. */
async function followed(texts: string[], query: FollowQuery, last: string) {
  const odd = await startOddServer(inTurn(...texts));
  const clock = testClock();
  const received: ClusterFollowItem[] = [];
  const controller = new AbortController();
  for await (const items of testClient({ url: odd.url }, clock).follow(
    { nodes: ['*'], ...query },
    { signal: controller.signal },
  )) {
    received.push(...items);
    if (items.some((item) => item.type === 'record' && item.message === last)) controller.abort();
  }
  const requests = odd.requests.map((request) =>
    Object.fromEntries(new URL(request.slice(4), 'http://node').searchParams),
  );
  const messages = received.map((item) => (item.type === 'record' ? item.message : item.type));
  return { requests, messages, clock };
}

describe('a follow of several nodes', () => {
  it('resumes after the last record of each member after a lost connection, and emits nothing twice', async () => {
    const { requests, messages } = await followed(
      [
        record('b', '1', NOW - 9000) +
          record('a', '1', NOW - 8000) +
          event({ type: 'missing', node: 'a', family: 'x' }),
        record('a', '1', NOW - 8000) + record('b', '2', NOW - 7500) + record('b', '1', NOW - 9000),
        record('b', '2', NOW - 7500) + record('a', '2', NOW - 7000),
      ],
      { start: { back: 2 }, src: ['a.log'] },
      'a 2',
    );
    expect(messages).toEqual(['b 1', 'a 1', 'missing', 'reconnecting', 'b 2', 'reconnecting', 'a 2', 'end']);
    expect(requests).toEqual([
      { nodes: '*', src: 'a.log', back: '2' },
      { nodes: '*', src: 'a.log', positions: '@b=1|a=1', time: '5200ms' },
      { nodes: '*', src: 'a.log', positions: '@b=2|a=1', time: '5400ms' },
    ]);
  });

  it('resumes where all logs of each member stood, and after what came since', async () => {
    const position = (node: string, cursor: string) =>
      `: position ${JSON.stringify({ type: 'position', node, cursor })}\n\n`;
    const { requests, messages } = await followed(
      [
        record('a', '1', NOW) + position('b', 'start~5'),
        position('a', 'start~1~2') + record('b', '6'),
        record('b', '7'),
      ],
      { start: 'end' },
      'b 7',
    );
    expect(messages).toEqual(['a 1', 'reconnecting', 'b 6', 'reconnecting', 'b 7', 'end']);
    expect(requests.slice(1)).toEqual([
      { nodes: '*', positions: '@a=1|b=start~5', time: '5200ms' },
      { nodes: '*', positions: '@a=start~1~2|b=start~5~6', time: '5400ms' },
    ]);
  });

  it('keeps the positions it was started with of members that have sent nothing', async () => {
    const start = { cursor: '@a=1|b=start~2', sinceMs: 17_000 };
    const { requests } = await followed([record('a', '3', NOW), record('a', '4', NOW)], { start }, 'a 4');
    expect(requests).toEqual([
      { nodes: '*', positions: '@a=1|b=start~2', time: '@17.000' },
      { nodes: '*', positions: '@a=1~3|b=start~2', time: '@17.000' },
    ]);
  });

  it('the same cursor of another member is another record', async () => {
    const { messages } = await followed([record('a', '1', 1) + record('b', '1', 1)], { start: 'end' }, 'b 1');
    expect(messages).toEqual(['a 1', 'b 1', 'end']);
  });

  it('resumes at the record, whatever the clock of its member is', async () => {
    const { requests } = await followed(
      [record('a', '1', NOW + 86_400_000), record('a', '2', NOW)],
      { start: 'end' },
      'a 2',
    );
    expect(requests).toEqual([{ nodes: '*' }, { nodes: '*', positions: '@a=1', time: '5200ms' }]);
  });

  it('resumes by time if a node accepts no long requests and there are too many members to name', () => {
    const place = new FollowPosition({ nodes: ['*'], start: 'end' }, { clock: testClock(), encode: encodeFollow });
    place.started(NOW);
    const records = Array.from({ length: 200 }, (_, index) => ({
      type: 'record' as const,
      ...{
        node: `member-${index}`,
        file: 'a.log',
        offset: 0,
        bytes: 1,
        cursor: 'c'.repeat(40),
        message: '',
        atMs: 9000,
      },
    }));
    place.track(records, { heartbeat: false, ids: [] });
    expect(place.request(NOW).query.get('positions')?.split('|')).toHaveLength(200);
    place.shorten();
    expect(Object.fromEntries(place.request(NOW).query)).toEqual({ nodes: '*', time: '4000' });
  });

  it('loads a gap from the member, which is asked for the same records, and selects no members', async () => {
    const gap = { type: 'gap', node: 'a', family: 'a.log', reason: 'slow', bytes: 9, after: 'c1', until: 'c3' };
    const lost = { type: 'record', file: 'a.log', offset: 0, bytes: 1, cursor: 'c2', message: 'a c2' };
    const end = { type: 'end', reason: 'exhausted', cursor: null, problems: [] };
    const odd = await startOddServer((request, response) => {
      const isFollow = request.url?.includes('/log/follow');
      if (isFollow) response.writeHead(200, SSE_HEADERS).write(event(gap));
      else
        response
          .writeHead(200, { 'content-type': 'application/x-ndjson' })
          .end(`${JSON.stringify(lost)}\n${JSON.stringify(end)}\n`);
    });
    // Every field of a selection, so that a new one is not forgotten.
    const selection: Required<Omit<MemberSelection, 'store'>> = {
      nodes: ['a'],
      role: 'r',
      labels: ['zone=1'],
      src: ['lost.log'],
      floors: { a: 1 },
    };
    const controller = new AbortController();
    const messages: string[] = [];
    const query = { start: 'end', terms: ['a'], ...selection } as const;
    for await (const items of testClient({ url: odd.url }).follow(query, { signal: controller.signal }))
      for (const item of items) {
        if (item.type === 'record') messages.push(item.message);
        if (item.type === 'record' || item.type === 'gap') controller.abort();
      }
    expect(messages).toEqual(['a c2']);
    const searches = odd.requests.slice(1).map((request) => new URL(request.slice(4), 'http://node'));
    expect(searches.length).toBeGreaterThan(0);
    for (const { pathname, searchParams } of searches) {
      expect(pathname).toBe('/api/v1/nodes/a/log/search');
      expect(Object.fromEntries(searchParams)).toMatchObject({ src: 'a.log', q: 'a', until: 'c3' });
      for (const name of ['nodes', 'role', 'label', 'floor', 'store']) expect(searchParams.has(name)).toBe(false);
    }
  });

  it.each(['follow', 'followEvents'] as const)(
    '%s resumes by POST when positions are too long for a URL',
    async (name) => {
      const cursor = 'c'.repeat(60);
      const of = (first: number) =>
        Array.from({ length: 200 }, (_, at) => record(`member-${at}`, `${cursor}${first}`, NOW)).join('');
      const odd = await startOddServer(inTurn(of(1), of(2)));
      const controller = new AbortController();
      let count = 0;
      for await (const items of testClient({ url: odd.url })[name](
        { nodes: ['*'], start: 'end' },
        { signal: controller.signal },
      )) {
        count += items.filter(({ type }) => type === 'record').length;
        if (count === 400) controller.abort();
      }
      expect(odd.requests.map((request) => request.split(' ')[0])).toEqual(['GET', 'POST']);
    },
  );

  it('an unfinished line is emitted again, whole', async () => {
    const { messages } = await followed(
      [record('a', '1', NOW, { unfinished: true }), record('a', '1', NOW) + record('a', '2', NOW)],
      { start: 'end' },
      'a 2',
    );
    expect(messages).toEqual(['a 1', 'reconnecting', 'a 1', 'a 2', 'end']);
  });

  it.each<[string, FollowQuery, Record<string, string>]>([
    ['at the end begins when it began', { start: 'end' }, { time: '5200ms' }],
    ['back begins as before', { start: { back: 3 } }, { back: '3' }],
    ['at a time begins as before', { start: { timeMs: 17 } }, { time: '@0.017' }],
  ])('that received nothing and started %s', async (_name, query, expected) => {
    const { requests } = await followed(['retry: 1\n\n', record('a', '1', NOW)], query, 'a 1');
    expect(requests[1]).toEqual({ nodes: '*', ...expected });
  });

  it('that was quiet does not start further back again', async () => {
    const { requests } = await followed([': still here\n\n', record('a', '1', NOW)], { start: { back: 3 } }, 'a 1');
    expect(requests[1]).toEqual({ nodes: '*', time: '5200ms' });
  });

  it('ends if the node refuses it', async () => {
    const odd = await startOddServer(respondWith(400, '{"code":"REQUEST_LOOP","detail":"no"}', JSON_HEADERS));
    const error = await catchFailure(testClient({ url: odd.url }).follow({ nodes: ['*'], start: 'end' }));
    expect(error).toMatchObject({ code: 'REQUEST_LOOP' });
  });
});
