import { appendFileSync, renameSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import type { OpenLog } from '@porthole/logs/types';
import { startTestNode } from '@porthole/server/testing';
import { expect, it } from 'vitest';
import { createClient } from './http-client.ts';
import { catchFailure } from './testing/catch-failure.ts';
import { respondWith, startOddServer } from './testing/odd-server.ts';
import { testClient } from './testing/test-client.ts';

const TEXT = '0123456789'.repeat(100_000);

async function serve() {
  const node = await startTestNode({ files: { 'a.log': TEXT, 'empty.log': '' } });
  return { ...node, path: join(node.logDir, 'a.log'), client: createClient({ url: node.running.url }) };
}

async function readText(log: OpenLog, start: number, end: number): Promise<string> {
  let text = '';
  for await (const chunk of log.read(start, end)) text += new TextDecoder().decode(chunk);
  return text;
}

const facts = ({ name, sizeBytes, modifiedMs, etag }: OpenLog) => ({ name, sizeBytes, modifiedMs, etag });

it.each(['a.log', 'empty.log'])(
  'has the size, time and tag of %s as the node has them, to the millisecond',
  async (file) => {
    const { client, running, logDir } = await serve();
    utimesSync(join(logDir, file), 1_794_743_999, 1_794_743_999.5);
    const [remote, local] = await Promise.all([client.openLog({ file }), running.state.openLog({ file })]);
    expect(facts(remote)).toEqual(facts(local));
    expect(remote.modifiedMs % 1000).toBe(500);
    await local.close();
  },
);

it('reads any part of it', async () => {
  const { client } = await serve();
  const log = await client.openLog({ file: 'a.log' });
  expect(await readText(log, 5, 12)).toBe('5678901');
  expect(await readText(log, 0, Infinity)).toBe(TEXT);
  expect(await readText(log, -5, 2)).toBe('01');
  expect(await readText(log, 7, 7)).toBe('');
  expect(await readText(log, 2_000_000, 2_000_001)).toBe('');
  expect(await readText(await client.openLog({ file: 'empty.log' }), 0, 10)).toBe('');
});

it('a file that grows is still the same one, up to the end it had', async () => {
  const { client, path } = await serve();
  const log = await client.openLog({ file: 'a.log' });
  appendFileSync(path, 'more');
  expect(await readText(log, TEXT.length - 3, TEXT.length + 10)).toBe('789');
});

it('a file that was replaced, truncated or rotated away is not read further', async () => {
  const { client, path } = await serve();
  const log = await client.openLog({ file: 'a.log' });
  truncateSync(path, 10);
  expect(await catchFailure(log.read(5, 20))).toMatchObject({ code: 'LOG_FILE_TRUNCATED' });
  expect(await catchFailure(log.read(15, 20))).toMatchObject({ code: 'LOG_FILE_TRUNCATED', status: 416 });
  renameSync(path, `${path}.1`);
  expect(await catchFailure(log.read(0, 5))).toMatchObject({ code: 'LOG_FILE_NOT_FOUND' });
  writeFileSync(path, 'short');
  expect(await catchFailure(log.read(15, 20))).toMatchObject({ code: 'PRECONDITION_FAILED', status: 416 });
  expect(await catchFailure(log.read(0, 5))).toMatchObject({ code: 'PRECONDITION_FAILED' });
});

it('a missing file fails with its code', async () => {
  const { client } = await serve();
  const error = await catchFailure(client.openLog({ file: 'b.log' }));
  expect(error).toMatchObject({ code: 'LOG_FILE_NOT_FOUND', message: expect.stringContaining('did you mean') });
  expect(await catchFailure(client.openLog({ file: '../x' }))).toMatchObject({ code: 'FILE_NAME_INVALID' });
});

it('closing ends what is being read, and nothing can be read afterwards', async () => {
  const odd = await startOddServer((request, response) => {
    const headers = { etag: '"a-b-c"', 'content-length': '100', 'content-range': 'bytes 0-99/100' };
    response.writeHead(request.method === 'HEAD' ? 200 : 206, headers);
    if (request.method === 'HEAD') response.end();
    else response.write('half');
  });
  const log = await testClient({ url: odd.url }).openLog({ file: 'a.log' });
  const chunks = log.read(0, 100)[Symbol.asyncIterator]();
  expect((await chunks.next()).value).toHaveLength(4);
  const next = catchFailure(chunks.next());
  await log.close();
  await log.close();
  expect(await next).toBeInstanceOf(Error);
  expect(() => log.read(0, 1)).toThrow('is closed');
  await eventually(() => expect(odd.aborted).toBe(1));
});

it('a signal ends one reading and leaves the others', async () => {
  const { client } = await serve();
  const log = await client.openLog({ file: 'a.log' });
  const controller = new AbortController();
  const read = async () => {
    for await (const _ of log.read(0, Infinity, { signal: controller.signal })) controller.abort(new Error('enough'));
  };
  expect(await catchFailure(read())).toBe(controller.signal.reason);
  expect(await readText(log, 0, 3)).toBe('012');
});

it.each([
  ['no ETag', { 'content-length': '100' }],
  ['no size', { etag: '"a"' }],
])('a response with %s is not a file to read in parts', async (_name, headers) => {
  const odd = await startOddServer((_request, response) => response.writeHead(200, headers as never).end());
  expect(await catchFailure(testClient({ url: odd.url }).openLog({ file: 'a' }))).toMatchObject({ code: 'BAD_ANSWER' });
});

it('a tag of another kind leaves the seconds of Last-Modified', async () => {
  const headers = { etag: 'W/"x"', 'content-length': '0', 'last-modified': 'Sun, 15 Nov 2026 11:59:59 GMT' };
  const odd = await startOddServer(respondWith(200, '', headers));
  const log = await testClient({ url: odd.url }).openLog({ file: 'a' });
  expect(log).toMatchObject({ etag: '"x"', modifiedMs: Date.UTC(2026, 10, 15, 11, 59, 59) });
});

it('a server without ranges is not mistaken for the range', async () => {
  const odd = await startOddServer(respondWith(200, '0123456789', { etag: '"a-b-c"', 'content-length': '10' }));
  const log = await testClient({ url: odd.url }).openLog({ file: 'a' });
  expect(await catchFailure(log.read(3, 5))).toMatchObject({ code: 'BAD_ANSWER' });
});
