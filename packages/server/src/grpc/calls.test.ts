import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { type ServiceError, status } from '@grpc/grpc-js';
import { createMemberClient } from '@porthole/client/member';
import { ERROR_KINDS, type NodeState, PortholeError, searchItems } from '@porthole/contract';
import type { FoundRecord, SearchEnd } from '@porthole/logs/types';
import { type RecordBatch, toItems } from '@porthole/records';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startTestNode } from '../testing/test-node.ts';
import { connect, connectNode } from './testing/connect.ts';

const FILES = {
  'a.log': '2026-06-01 12:00:01.000\tINFO\tmain.go:1\t[Main]: started\n',
  'b.log': 'no time at all\nand no level\n',
};

async function startPair() {
  const { running } = await startTestNode({ files: FILES });
  return { remote: connectNode(running.node.grpcPort), running };
}

async function all<T>(batches: AsyncIterable<T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const batch of batches) items.push(...batch);
  return items;
}

const SEARCH = { order: 'newest', limit: 100, before: 0, after: 0 } as const;

describe('a path that a client has made up', () => {
  it('becomes no series of the metrics', async () => {
    const { running } = await startPair();
    const session = connectHttp2(`http://127.0.0.1:${running.node.grpcPort}`);
    onTestFinished(() => session.destroy());
    for (let n = 0; n < 20; n++) {
      const headers = {
        ':method': 'POST',
        ':path': `/invented.Invented/INVENTED${n}`,
        'content-type': 'application/grpc',
      };
      const stream = session.request(headers);
      stream.end();
      await once(stream.resume(), 'close');
    }
    const text = await (await fetch(`${running.url}metrics`)).text();
    expect(text).not.toContain('INVENTED');
  });
});

describe('what happened, over gRPC', () => {
  it('is the same as over HTTP: events, of one kind, and the history of the configuration', async () => {
    const { remote, running } = await startPair();
    const http = createMemberClient({ url: running.url });
    const [started] = await collectEvents(http.events({ ...SEARCH, limit: 5 }));
    expect(started).toMatchObject({ level: 'INFO', context: { kind: 'started' } });
    expect(await collectEvents(remote.events(SEARCH))).toEqual([started]);
    const connection = connect(running.node.grpcPort);
    const request = {
      order: '',
      cursor: '',
      record: '',
      until: '',
      raw: false,
      fields: [],
      events: { kinds: ['killed'] },
    };
    for (const selection of [undefined, { nodes: ['*'], role: '', labels: [], store: '' }])
      for await (const message of connection.stream('SearchLogs', { ...request, selection }, {}))
        expect((message?.items ?? []).filter(({ record }) => record)).toEqual([]);
    const history = await http.configHistory({ limit: 10 });
    expect(history.periods).toHaveLength(1);
    expect(await remote.configHistory({ limit: 10 })).toEqual(history);
    const { version = '' } = history.periods[0] ?? {};
    expect(await remote.configVersion(version)).toEqual(await http.configVersion(version));
    await expect(remote.configVersion('none')).rejects.toMatchObject({ code: 'CONFIG_VERSION_NOT_FOUND' });
    const all = { key: '', selection: { nodes: ['*'], role: '', labels: [], store: '' } };
    const { nodes, members } = await connection.call('GetConfigHistory', all, {});
    expect(nodes).toMatchObject([{ isKnown: true, periods: [{ version }] }]);
    expect(members).toMatchObject([{ outcome: 'ok' }]);
  });

  it('is followed', async () => {
    const { remote } = await startPair();
    const ending = new AbortController();
    for await (const items of remote.followEvents({ start: { back: 1 } }, { signal: ending.signal })) {
      if (items.length === 0) continue;
      expect(items).toMatchObject([{ type: 'record', context: { kind: 'started' } }]);
      break;
    }
    ending.abort();
  });

  it('of a kind that does not exist is refused', async () => {
    const { running } = await startPair();
    const connection = connect(running.node.grpcPort);
    const request = {
      order: '',
      cursor: '',
      record: '',
      until: '',
      raw: false,
      fields: [],
      events: { kinds: ['party'] },
    };
    const read = async () => {
      for await (const message of connection.stream('SearchLogs', request, {})) expect(message).toBeUndefined();
    };
    await expect(read()).rejects.toMatchObject({ code: 'PARAMETER_INVALID' });
  });
});

async function collectEvents(items: AsyncIterable<RecordBatch | SearchEnd>): Promise<FoundRecord[]> {
  const found = await all(toItems<FoundRecord, SearchEnd>(items));
  return found.flatMap((item) => (item.type === 'record' ? item : []));
}

describe('a refusal over gRPC', () => {
  const refused: [string, (node: NodeState) => Promise<unknown>, PortholeError['code']][] = [
    ['a name that leaves the directory', (node) => node.openLog({ file: '../x' }), 'FILE_NAME_INVALID'],
    ['a file that is not there', (node) => node.viewLog({ file: 'absent', sizeBytes: 1 }), 'LOG_FILE_NOT_FOUND'],
    ['no size', (node) => node.viewLog({ file: 'a.log', sizeBytes: 0 }), 'SIZE_INVALID'],
    ['too many records', (node) => all(searchItems(node, { ...SEARCH, limit: 10 ** 9 })), 'PARAMETER_INVALID'],
    ['a bad expression', (node) => all(searchItems(node, { ...SEARCH, regex: '(' })), 'REGEX_INVALID'],
    ['no cursor', (node) => all(searchItems(node, { ...SEARCH, start: { cursor: 'x' } })), 'CURSOR_INVALID'],
    ['no such log', (node) => all(node.followLogs({ src: ['absent'], start: 'end' })), 'LOG_FAMILY_NOT_FOUND'],
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
