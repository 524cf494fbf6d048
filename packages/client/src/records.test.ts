import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestNode } from '@porthole/server/testing';
import { describe, expect, it } from 'vitest';
import { createClient, type RecordsEvent } from './index.ts';
import { catchFailure } from './testing/catch-failure.ts';
import { respondWith, startOddServer } from './testing/odd-server.ts';
import { testClient } from './testing/test-client.ts';

const line = (index: number, level = 'INFO') =>
  `2026-11-15 10:00:00.${String(index).padStart(3, '0')}\t${level}\ta.go:1\t[A]: ${index}\n`;
const LINES = Array.from({ length: 12 }, (_, index) => line(index)).join('');

async function serve(settings: object = {}) {
  const { running, logDir } = await startTestNode({
    files: { 'a.log': LINES },
    settings: { node: { timeZone: 'UTC' }, ...settings },
  });
  return { node: createClient({ url: running.url }), log: join(logDir, 'a.log') };
}

describe('records()', () => {
  it('reads all pages, in pages of the size that the node allows', async () => {
    const { node } = await serve({ search: { maxRecords: 5 } });
    for (const nodes of [{}, { nodes: ['*'] }]) {
      const messages: string[] = [];
      const events: string[] = [];
      const onEvent = (event: { type: string; reason?: string }) => events.push(event.reason ?? event.type);
      for await (const { message } of node.records(nodes, { onEvent })) messages.push(message);
      expect(messages).toEqual(['11', '10', '9', '8', '7', '6', '5', '4', '3', '2', '1', '0']);
      expect(events).toEqual(['limit', 'limit', 'exhausted']);
    }
  });

  it.each([
    [{ order: 'oldest', limit: 7 }, 7],
    [{ limit: 5 }, 5],
    [{ limit: 1 }, 1],
    [{ terms: ['nothing'] }, 0],
  ] as const)('%j are %i records of all pages together', async (request, count) => {
    const { node } = await serve({ search: { maxRecords: 5 } });
    let found = 0;
    for await (const _ of node.records(request)) found++;
    expect(found).toBe(count);
  });

  it('says what is wrong with the request, once', async () => {
    const { node } = await serve();
    const read = async (request: object) => {
      for await (const _ of node.records(request));
    };
    expect(await catchFailure(read({ limit: 1.5 }))).toMatchObject({ code: 'PARAMETER_INVALID', status: 400 });
    expect(await catchFailure(read({ regex: '(' }))).toMatchObject({ code: 'REGEX_INVALID' });
    expect(await catchFailure(read({ minLevel: 'loud' }))).toMatchObject({
      message: expect.stringContaining('invalid "level" "loud": expected trace'),
    });
  });

  it('ends instead of requesting the same page forever', async () => {
    const end = JSON.stringify({ type: 'end', reason: 'time budget', records: 0, cursor: 'here', elapsedMs: 1 });
    const odd = await startOddServer(respondWith(200, `${end}\n`, { 'content-type': 'application/x-ndjson' }));
    const read = async () => {
      for await (const _ of testClient({ url: odd.url }).records());
    };
    expect(await catchFailure(read())).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(odd.requests).toHaveLength(2);
    let ended: RecordsEvent | undefined;
    // A budget of its own ends it, and the closing record says so.
    for await (const _ of testClient({ url: odd.url }).records(
      {},
      { budgetMs: 1, onEvent: (event) => (ended = event) },
    ));
    expect(ended).toMatchObject({ reason: 'time budget', cursor: 'here' });
  });

  it('follows, and leaving the loop ends it', async () => {
    const { node, log } = await serve();
    for (const nodes of [{}, { nodes: ['*'] }]) {
      const messages: string[] = [];
      for await (const { message } of node.records({ ...nodes, follow: true, start: { back: 2 }, minLevel: 'INFO' })) {
        messages.push(message);
        if (messages.length === 2) appendFileSync(log, line(99, 'ERROR'));
        if (messages.length === 3) break;
      }
      expect(messages.at(-1)).toBe('99');
    }
  });
});

it('what is left out has the default of the node', async () => {
  const { node } = await serve();
  const items = [];
  for await (const batch of node.search()) items.push(...batch);
  expect(items).toHaveLength(13);
  expect(items[0]).toMatchObject({ message: '11' });
  expect((await node.digest()).groups).toMatchObject([{ count: 12 }]);
  expect((await node.histogram()).buckets).toHaveLength(12); // 60 of them would be too fine
  const view = await node.viewLog({ file: 'a.log' });
  expect(view.sizeBytes).toBe(LINES.length);
  await view.close();
  expect(await node.settings({ nodes: ['*'] })).toMatchObject({ configs: [{ report: { outcome: 'ok' } }] });
  let around = 0;
  for await (const batch of node.around({ nodes: ['*'], at: { timeMs: Date.UTC(2026, 10, 15, 10) } }))
    around += batch.length;
  expect(around).toBe(13);
  const stop = new AbortController();
  for await (const _ of node.follow(undefined, { signal: stop.signal })) stop.abort();
});
