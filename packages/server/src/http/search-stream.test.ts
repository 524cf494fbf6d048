import type { IncomingMessage } from 'node:http';
import { type ErrorCode, PortholeError, type SearchOptions } from '@porthole/contract';
import type { FoundRecord, SearchEnd, SearchItem, SearchQuery } from '@porthole/logs';
import { eventually, scaled } from '@porthole/logs/testing';
import { batchOf, type RecordBatch } from '@porthole/records';
import { describe, expect, it } from 'vitest';
import { exchange, openRequest, openSocket, requestProblem, sendRequest } from '../testing/send-request.ts';
import { BatchSource } from './testing/batch-source.ts';
import { END, record } from './testing/records.ts';
import { type ServeOptions, serveRecords } from './testing/serve-records.ts';

const SEARCH = '/api/v1/log/search';

/** More than all socket buffers of a loopback connection hold, in batches of 1 MiB. */
const BIG_BATCH = [record(1, { message: 'x'.repeat(1024 * 1024) })];
const BIG_COUNT = 64;

async function serve(options?: ServeOptions) {
  const source = new BatchSource<SearchItem>();
  const seen: { request?: SearchQuery; options?: SearchOptions } = {};
  const search = (request: SearchQuery, given: SearchOptions = {}) => {
    Object.assign(seen, { request, options: given });
    return asBatches(source.open(given.signal));
  };
  return { source, seen, ...(await serveRecords({ search }, options)) };
}

function asBatches(lists: AsyncIterable<SearchItem[]>): AsyncIterable<RecordBatch | SearchEnd> {
  const iterator = lists[Symbol.asyncIterator]();
  const next = async (): Promise<IteratorResult<RecordBatch | SearchEnd>> => {
    const { value, done = false }: IteratorResult<SearchItem[]> = await iterator.next();
    if (done) return { value: undefined, done: true };
    const [first] = value as SearchItem[];
    return { value: first?.type === 'end' ? first : batchOf(value as FoundRecord[]), done: false };
  };
  const end = async (): Promise<IteratorResult<RecordBatch | SearchEnd>> => {
    await iterator.return?.();
    return { value: undefined, done: true };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}

async function nextText(response: IncomingMessage): Promise<string> {
  const [part] = (await new Promise((resolve) => response.once('data', (...args) => resolve(args)))) as [Buffer];
  return part.toString();
}

/** A record as the node answers it that has it. */
const named = (number: number) => ({ node: 'self', ...record(number) });

describe('a search', () => {
  it('is sent line by line, and ends with its end', async () => {
    const { port, source, seen, slots } = await serve();
    source.push([], [record(1), record(2)], [], [record(3), END]).end();
    const { status, headers, body } = await sendRequest(port, `${SEARCH}?q=x&limit=5`);
    expect({ status, type: headers['content-type'], cache: headers['cache-control'] }).toEqual({
      status: 200,
      type: 'application/x-ndjson',
      cache: 'no-store',
    });
    expect(headers['content-length']).toBeUndefined();
    const items = body.toString().trimEnd().split('\n');
    const lines = items.map((line) => JSON.parse(line));
    expect(lines.slice(0, -1)).toEqual([1, 2, 3].map(named));
    expect(lines.at(-1)).toMatchObject(END);
    expect(seen.request).toEqual({ terms: ['x'], limit: 5, order: 'newest', before: 0, after: 0 });
    expect(seen.options?.budgetMs).toBeGreaterThan(0);
    await eventually(() => expect({ closed: source.closed, taken: slots.taken }).toEqual({ closed: true, taken: 0 }));
  });

  it('has its head and each batch sent as soon as they are there', async () => {
    const { port, source } = await serve();
    source.push([]);
    const response = await openRequest(port, SEARCH);
    expect(response.statusCode).toBe(200);
    for (const number of [1, 2]) {
      source.push([record(number)]);
      expect(JSON.parse(await nextText(response))).toEqual(named(number));
    }
    response.destroy();
  });

  it.each<[ErrorCode, number]>([
    ['REGEX_INVALID', 400],
    ['CURSOR_INVALID', 400],
    ['LOG_FAMILY_NOT_FOUND', 404],
    ['CURSOR_GONE', 410],
    ['TOO_MANY_SEARCHES', 503],
  ])('that is refused with %s before its first batch is a problem with status %i', async (code, status) => {
    const { port, source, slots } = await serve();
    source.push(new PortholeError(code, 'because'));
    const problem = await requestProblem(port, SEARCH);
    expect(problem).toMatchObject({ status, code, detail: 'because' });
    expect(problem.headers['retry-after']).toBe(status === 503 ? '1' : undefined);
    await eventually(() => expect(slots.taken).toBe(0));
  });

  it('with a parameter that is not valid never reaches the engine', async () => {
    const { port, source } = await serve();
    const { status, code, detail } = await requestProblem(port, `${SEARCH}?limit=1001`);
    expect({ status, code }).toEqual({ status: 400, code: 'PARAMETER_INVALID' });
    expect(detail).toContain('search.max-records');
    expect(source.requested).toBe(0);
  });

  it('that fails later is cut, so that a truncated response never looks complete', async () => {
    const { port, source, cuts } = await serve();
    source.push([], [record(1)], new Error('the disk is gone'));
    await expect(sendRequest(port, SEARCH)).rejects.toThrow('aborted');
    await eventually(() => expect(cuts).toEqual(['source']));
  });

  it('with HEAD returns the head and closes the search', async () => {
    const { port, source, slots } = await serve();
    source.push([]);
    const { status, headers, body } = await sendRequest(port, SEARCH, { method: 'HEAD' });
    expect({ status, type: headers['content-type'], bytes: body.length }).toEqual({
      status: 200,
      type: 'application/x-ndjson',
      bytes: 0,
    });
    await eventually(() => expect({ closed: source.closed, taken: slots.taken }).toEqual({ closed: true, taken: 0 }));
  });

  it('by an HTTP/1.0 client ends with its connection', async () => {
    const { port, source } = await serve();
    source.push([], [record(1), END]).end();
    const answer = await exchange(port, `GET ${SEARCH} HTTP/1.0\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).not.toContain('chunked');
    const [first = '', last = ''] = answer.trimEnd().split('\n').slice(-2);
    expect([JSON.parse(first), JSON.parse(last)]).toMatchObject([named(1), END]);
  });
});

describe('a search whose reader', () => {
  it('leaves while nothing is found is aborted and closed at once', async () => {
    const { port, source, slots, cuts } = await serve();
    source.push([]);
    const response = await openRequest(port, SEARCH);
    await eventually(() => expect(source.requested).toBe(2));
    response.destroy();
    await eventually(() => expect(source.closed).toBe(true));
    expect(source.signal?.aborted).toBe(true);
    await eventually(() => expect({ cuts, taken: slots.taken }).toEqual({ cuts: ['client'], taken: 0 }));
  });

  it('leaves before the request was accepted is aborted too', async () => {
    const { port, source, slots } = await serve();
    const socket = openSocket(port);
    socket.write(`GET ${SEARCH} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await eventually(() => expect(source.requested).toBe(1));
    socket.destroy();
    await eventually(() => expect(source.closed).toBe(true));
    await eventually(() => expect(slots.taken).toBe(0));
  });

  it('does not read holds the search, and leaving then closes it at once', async () => {
    const { port, source } = await serve();
    source.push([], ...Array.from({ length: BIG_COUNT }, () => BIG_BATCH));
    const response = await openRequest(port, SEARCH);
    let asked = 0;
    await eventually(() => {
      const before = asked;
      asked = source.requested;
      expect(asked).toBe(before); // looked at twice, it has not moved
      expect(asked).toBeGreaterThan(1);
    });
    expect(source.requested).toBeLessThan(BIG_COUNT / 2);
    expect(source.closed).toBe(false);
    response.destroy();
    await eventually(() => expect(source.closed).toBe(true));
  });

  it('does not read for http.stall-timeout is cut', async () => {
    const { port, source, cuts } = await serve({ stallTimeoutMs: 100 });
    source.push([], ...Array.from({ length: BIG_COUNT }, () => BIG_BATCH));
    const response = await openRequest(port, SEARCH);
    await eventually(() => expect(cuts).toEqual(['stalled']));
    expect(source.closed).toBe(true);
    response.destroy();
  });

  it('waits for longer than all timeouts is not cut while nothing is found', async () => {
    // The response itself must start within them, also on a busy machine.
    const timeoutMs = scaled(300);
    const { port, source, cuts } = await serve({ stallTimeoutMs: timeoutMs, answerTimeoutMs: timeoutMs });
    source.push([]);
    const response = await openRequest(port, SEARCH);
    await new Promise((resolve) => setTimeout(resolve, 2 * timeoutMs)); // pause: the waiting itself is looked at
    source.push([END]).end();
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    expect(JSON.parse(Buffer.concat(parts).toString())).toMatchObject(END);
    expect(cuts).toEqual([]);
  });
});

it('searches beyond http.max-streams are refused', async () => {
  const { port, source } = await serve({ maxStreams: 1 });
  source.push([]);
  const response = await openRequest(port, SEARCH);
  expect(await requestProblem(port, SEARCH)).toMatchObject({ status: 503, code: 'TOO_MANY_STREAMS' });
  response.destroy();
});
