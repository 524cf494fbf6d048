import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServiceError, status } from '@grpc/grpc-js';
import { ERROR_KINDS, type NodeState, PortholeError, searchItems } from '@porthole/contract';
import type { SearchItem } from '@porthole/logs';
import { describe, expect, it } from 'vitest';
import { startTestNode } from '../testing/test-node.ts';
import { connect, connectNode } from './testing/connect.ts';

function line(second: number, rest: string): string {
  return `2026-06-01 12:00:${String(second).padStart(2, '0')}.000\t${rest}\n`;
}

const FILES = {
  'a.log': [
    line(1, 'INFO\tmain.go:1\t[Main]: started\t{"port":1,"name":"\\ud83d"}'),
    line(2, 'WARN\tmain.go:2\t[Main] [Disk]: slow'),
    line(3, 'ERROR\tmain.go:3\t[Main]: failed\n\tat main()\n\tat start()'),
    line(4, 'INFO\tmain.go:1\t[Main]: started'),
  ].join(''),
  'b.log': 'no time at all\nand no level\n',
  'empty.log': '',
};

async function startPair() {
  const { running, logDir } = await startTestNode({ files: FILES });
  return { local: running.state, remote: connectNode(running.node.grpcPort), running, logDir };
}

/** Times and counters that differ from one moment to the next. */
function masked<T>(value: T): T {
  const moments = new Set(['clockMs', 'uptimeMs', 'elapsedMs', 'scannedBytes', 'skippedBytes']);
  return JSON.parse(JSON.stringify(value, (key, held) => (moments.has(key) ? 'a moment' : held))) as T;
}

async function all<T>(batches: AsyncIterable<T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const batch of batches) items.push(...batch);
  return items;
}

async function bytes(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts).toString();
}

const SEARCH = { order: 'newest', limit: 100, before: 0, after: 0 } as const;

describe('a response over gRPC is that of the node itself', () => {
  const requests: Record<string, (node: NodeState) => Promise<unknown>> = {
    description: (node) => node.describe(),
    configuration: (node) => node.config(),
    settings: (node) => node.settings(),
    list: (node) => node.listLogs(),
    details: (node) => node.logFiles(),
    'a search': (node) => all(searchItems(node, { ...SEARCH, raw: true })),
    'a search with records around': (node) =>
      all(searchItems(node, { ...SEARCH, file: 'a.log', terms: ['slow'], before: 3, after: 1 })),
    'a search that finds nothing': (node) => all(searchItems(node, { ...SEARCH, terms: ['nowhere'], before: 1 })),
    histogram: (node) => node.logHistogram({ buckets: 10 }),
    digest: (node) => node.logDigest({ limit: 10, newSinceMs: Date.UTC(2026, 5, 1, 12, 0, 3) }),
  };
  it.each(Object.keys(requests))('%s', async (name) => {
    const { local, remote } = await startPair();
    const send = requests[name] ?? (() => Promise.reject(new Error(name)));
    expect(masked(await send(remote))).toEqual(masked(await send(local)));
  });

  it('the end of a file, whole or in part', async () => {
    const { remote } = await startPair();
    for (const file of ['a.log', 'empty.log'] as const) {
      const view = await remote.viewLog({ file, sizeBytes: 1_000_000 });
      expect(view.sizeBytes).toBe(FILES[file].length);
      expect(await bytes(view.chunks)).toBe(FILES[file]);
    }
    const end = await remote.viewLog({ file: 'a.log', sizeBytes: 60 });
    expect(await bytes(end.chunks)).toBe(line(4, 'INFO\tmain.go:1\t[Main]: started'));
  });

  it('a range of a file, as long as it is the same file', async () => {
    const { remote, logDir } = await startPair();
    const log = await remote.openLog({ file: 'b.log' });
    expect(log).toMatchObject({ name: 'b.log', sizeBytes: 28, etag: expect.stringMatching(/^"/) });
    expect(await bytes(log.read(3, 7))).toBe('time');
    expect(await bytes(log.read(3, 3))).toBe('');
    writeFileSync(join(logDir, 'b.log'), 'no', { flag: 'w' });
    await expect(bytes(log.read(3, 7))).rejects.toMatchObject({ code: 'LOG_FILE_TRUNCATED' });
    writeFileSync(join(logDir, 'c.log'), 'another file of that name');
    const { renameSync } = await import('node:fs');
    renameSync(join(logDir, 'c.log'), join(logDir, 'b.log'));
    await expect(bytes(log.read(0, 2))).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
  });

  it('a file that was appended to is still the same', async () => {
    const { remote, logDir } = await startPair();
    const log = await remote.openLog({ file: 'b.log' });
    writeFileSync(join(logDir, 'b.log'), 'more', { flag: 'a' });
    expect(await bytes(log.read(0, 2))).toBe('no');
  });

  it('records as they are written', async () => {
    const { remote, logDir } = await startPair();
    const emitted: string[] = [];
    const leaving = new AbortController();
    for await (const batch of remote.followLogs({ start: { back: 1 }, file: 'a.log' }, { signal: leaving.signal })) {
      for (const item of batch) emitted.push(item.type === 'record' ? item.message : item.type);
      if (emitted.length === 1)
        writeFileSync(join(logDir, 'a.log'), line(5, 'INFO\tmain.go:5\t[Main]: more'), { flag: 'a' });
      if (emitted.length === 2) leaving.abort();
    }
    expect(emitted).toEqual(['started', 'more', 'end']);
  });

  it('invalid UTF-8 is replaced', async () => {
    const odd = line(1, 'INFO\tmain.go:1\todd').replace('odd', 'odd \u0000 \u{1f642}');
    const json = '{"level":"info","time":1780315200000,"msg":"half \\ud83d of a pair"}\n';
    const { running } = await startTestNode({ files: { 'a.log': odd, 'j.log': json } });
    const items = await all<SearchItem>(
      searchItems(connectNode(running.node.grpcPort), { ...SEARCH, family: 'j.log' }),
    );
    expect(items[0]).toMatchObject({ message: 'half \ufffd of a pair' });
  });
});

describe('a refusal over gRPC', () => {
  const refused: [string, (node: NodeState) => Promise<unknown>, PortholeError['code']][] = [
    ['a name that leaves the directory', (node) => node.openLog({ file: '../x' }), 'FILE_NAME_INVALID'],
    ['a file that is not there', (node) => node.viewLog({ file: 'absent', sizeBytes: 1 }), 'LOG_FILE_NOT_FOUND'],
    ['no size', (node) => node.viewLog({ file: 'a.log', sizeBytes: 0 }), 'SIZE_INVALID'],
    ['too many records', (node) => all(searchItems(node, { ...SEARCH, limit: 10 ** 9 })), 'PARAMETER_INVALID'],
    ['a bad expression', (node) => all(searchItems(node, { ...SEARCH, regex: '(' })), 'REGEX_INVALID'],
    ['no cursor', (node) => all(searchItems(node, { ...SEARCH, start: { cursor: 'x' } })), 'CURSOR_INVALID'],
    ['no such log', (node) => all(node.followLogs({ family: 'absent', start: 'end' })), 'LOG_FAMILY_NOT_FOUND'],
    ['too many groups', (node) => node.logDigest({ limit: 10 ** 6 }), 'PARAMETER_INVALID'],
    ['too many buckets', (node) => node.logHistogram({ buckets: 0 }), 'PARAMETER_INVALID'],
  ];
  it.each(refused)('of %s has its code and the status of that code', async (_name, send, code) => {
    const { remote } = await startPair();
    const thrown = await send(remote).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(PortholeError);
    const { cause, ...error } = thrown as PortholeError & { cause: ServiceError };
    expect(error.code).toBe(code);
    expect(status[cause.code]).toBe(ERROR_KINDS[code].grpc);
  });

  it('says the same as over HTTP', async () => {
    const { remote, running } = await startPair();
    const response = await fetch(`${running.url}api/v1/log/search?limit=0`);
    const { detail } = (await response.json()) as { detail: string };
    await expect(all(searchItems(remote, { ...SEARCH, limit: 0 }))).rejects.toThrow(detail);
  });

  it('of a range outside the file reports its size', async () => {
    const { running } = await startPair();
    const connection = connect(running.node.grpcPort);
    for (const range of [{ start: 29 }, { start: 5, end: 4 }, { start: -1, end: 4 }, { start: 0, end: 29 }]) {
      const read = connection.stream('ReadLog', { file: 'b.log', etag: '', ...range });
      await expect(read.next()).rejects.toMatchObject({
        code: 'RANGE_NOT_SATISFIABLE',
        message: '"b.log" has 28 bytes',
      });
    }
  });

  it('of no name says what is missing', async () => {
    const { running } = await startPair();
    const pending = connect(running.node.grpcPort).call('StatLog', { file: '' });
    await expect(pending).rejects.toMatchObject({ code: 'FILE_NAME_MISSING' });
  });

  it('of a failure of the node says nothing of it', async () => {
    const { running } = await startPair();
    running.state.describe = () => Promise.reject(new Error('/home/ann/secret'));
    const pending = connect(running.node.grpcPort).call('Describe', {});
    await expect(pending).rejects.toMatchObject({ code: 'INTERNAL', message: expect.not.stringContaining('secret') });
  });
});
