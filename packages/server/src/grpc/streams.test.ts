import { appendFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:http2';
import { join } from 'node:path';
import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import type { NodeState } from '@porthole/contract';
import { searchItems } from '@porthole/contract';
import { eventually, openBelow } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { requestJson } from '../testing/send-request.ts';
import { startTestNode, type TestNode } from '../testing/test-node.ts';
import type { SearchLogsRequestMessage, ViewLogResponseMessage } from './generated/messages.ts';
import { connect, connectNode } from './testing/connect.ts';
import { openIdleReader } from './testing/idle-reader.ts';

const MIB = 1024 * 1024;
const LINE = '2026-06-01 12:00:00.000\tINFO\tmain.go:1\t[Main]: a line of a log that is of some length\n';

const SEARCH: SearchLogsRequestMessage = { order: '', cursor: '', record: '', until: '', raw: false, fields: [] };

function writeBig(logDir: string, bytes = 64 * MIB): void {
  const block = LINE.repeat(Math.floor(MIB / LINE.length));
  for (let size = 0; size < bytes; size += block.length) appendFileSync(join(logDir, 'big.log'), block);
}

async function openStreams({ port }: TestNode): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  return Number(/^porthole_open_streams (\d+)$/m.exec(await response.text())?.[1]);
}

/** No stream counts any more, and no file is held. */
async function expectNothingHeld(node: TestNode): Promise<void> {
  await eventually(async () => {
    expect(await openStreams(node)).toBe(0);
    expect(openBelow(node.logDir)).toBe(0);
  });
}

function readStatus(call: ClientReadableStream<unknown>): Promise<string> {
  return new Promise((resolve) => {
    call.once('error', (error: ServiceError) => resolve(status[error.code]));
    call.once('end', () => resolve('OK'));
  });
}

describe('a stream that its reader leaves', () => {
  it('ends in the middle of a view of 64 MiB', async () => {
    const node = await startTestNode();
    writeBig(node.logDir);
    const call = connect(node.running.node.grpcPort).open('ViewLog', { file: 'big.log', size: 64 * MIB });
    const ended = readStatus(call);
    let bytes = 0;
    await new Promise<void>((resolve) => {
      call.on('data', ({ chunk }: ViewLogResponseMessage) => {
        bytes += chunk.length;
        if (bytes > MIB) resolve();
      });
    });
    call.cancel();
    expect(await ended).toBe('CANCELLED');
    expect(bytes).toBeLessThan(64 * MIB);
    await expectNothingHeld(node);
  });

  it('ends in the middle of a search', async () => {
    const node = await startTestNode();
    writeBig(node.logDir, 8 * MIB);
    const messages = connect(node.running.node.grpcPort).stream('SearchLogs', { ...SEARCH, limit: 10_000 });
    await messages.next();
    await messages.next();
    await messages.return(undefined);
    await eventually(async () => {
      const metrics = await (await fetch(`${node.running.url}metrics`)).text();
      expect(metrics).toMatch(/^porthole_searches 0$/m);
    });
    await expectNothingHeld(node);
  });

  it('ends in the middle of a follow', async () => {
    const node = await startTestNode({ files: { 'a.log': LINE } });
    const messages = connect(node.running.node.grpcPort).stream('FollowLogs', {
      back: 1,
      cursor: '',
      raw: false,
      fields: [],
    });
    await messages.next();
    await messages.next();
    expect(await openStreams(node)).toBe(1);
    await messages.return(undefined);
    await expectNothingHeld(node);
  });
});

describe('the deadline of a caller', () => {
  it('ends a follow without new records, and releases everything', async () => {
    const node = await startTestNode({ files: { 'a.log': LINE } });
    const request = { cursor: '', raw: false, fields: [] };
    const client = connect(node.running.node.grpcPort);
    await client.call('ListLogs', {}); // the first call loads the service, which may take longer than the deadline
    const call = client.open('FollowLogs', request, { deadline: Date.now() + 200 });
    call.resume();
    expect(await readStatus(call)).toBe('DEADLINE_EXCEEDED');
    await expectNothingHeld(node);
    await eventually(async () => {
      const metrics = await (await fetch(`${node.running.url}metrics`)).text();
      expect(metrics).toMatch(/method="NodeStateService\/FollowLogs",status="(DEADLINE_EXCEEDED|CANCELLED)"/);
    });
  });
});

describe('a reader that takes nothing', () => {
  it('is not read for, and is given up after the stall time', async () => {
    const node = await startTestNode({ settings: { http: { stallTimeoutMs: 300 } } });
    writeBig(node.logDir);
    const readBytes = countViewedBytes(node.running.state);
    const stream = openIdleReader(node.running.node.grpcPort, 'ViewLog', { file: 'big.log', size: 64 * MIB });
    const closed = new Promise((resolve) => stream.once('close', resolve));
    await new Promise((resolve) => stream.once('response', resolve));
    await expectNothingHeld(node);
    // What the connection holds, and a chunk that waits.
    expect(readBytes()).toBeLessThan(4 * MIB);
    await closed;
    expect(stream.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
});

/** Counts what views read from now on. */
function countViewedBytes(state: NodeState): () => number {
  let count = 0;
  const view = state.viewLog.bind(state);
  state.viewLog = async (...args) => {
    const opened = await view(...args);
    return { ...opened, chunks: counted(opened.chunks) };
  };
  return () => count;

  async function* counted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      count += chunk.length;
      yield chunk;
    }
  }
}

describe('streams over HTTP and gRPC', () => {
  it('share the slots', async () => {
    const node = await startTestNode({ files: { 'a.log': LINE }, settings: { http: { maxStreams: 1 } } });
    const connection = connect(node.running.node.grpcPort);
    const follow = connection.stream('FollowLogs', { cursor: '', raw: false, fields: [] });
    await follow.next();
    await expect(connection.stream('ViewLog', { file: 'a.log' }).next()).rejects.toMatchObject({
      code: 'TOO_MANY_STREAMS',
      message: '1 streams are open, the limit set by http.max-streams',
    });
    await expect(connection.call('CountLogs', {})).rejects.toMatchObject({ code: 'TOO_MANY_STREAMS' });
    expect(await requestJson(node.port, '/api/v1/log/view?file=a.log')).toMatchObject({ code: 'TOO_MANY_STREAMS' });
    await follow.return(undefined);
    await eventually(async () => {
      expect((await connection.call('CountLogs', {})).buckets).toHaveLength(1);
    });
  });
});

describe('the time until a response starts', () => {
  it('is limited for unary responses and streams alike', async () => {
    const node = await startTestNode({ settings: { http: { answerTimeoutMs: 50 } } });
    const stuck = new Promise<never>(() => {});
    node.running.state.listLogs = () => stuck;
    node.running.state.viewLog = () => stuck;
    const connection = connect(node.running.node.grpcPort);
    const late = {
      code: 'DEADLINE_EXCEEDED',
      message: 'no response within 50 ms, the limit set by http.answer-timeout',
    };
    await expect(connection.call('ListLogs', {})).rejects.toMatchObject(late);
    await expect(connection.stream('ViewLog', { file: 'a.log' }).next()).rejects.toMatchObject(late);
    await eventually(async () => expect(await openStreams(node)).toBe(0));
  });
});

describe('a node that stops', () => {
  it('ends follows with a last item, and lets a running response end', async () => {
    const node = await startTestNode({ files: { 'a.log': LINE } });
    writeBig(node.logDir, 8 * MIB);
    const remote = connectNode(node.running.node.grpcPort);
    const follow = remote.followLogs({ src: ['=a.log'], start: { back: 1 } });
    await follow.next();
    await follow.next();
    const { chunks, sizeBytes } = await remote.viewLog({ file: 'big.log', sizeBytes: 8 * MIB });
    const stopped = node.running.stop();
    expect(await follow.next()).toMatchObject({ value: [{ type: 'end', reason: 'stopping' }] });
    expect(await follow.next()).toMatchObject({ done: true });
    let bytes = 0;
    for await (const chunk of chunks) bytes += chunk.length;
    expect(bytes).toBe(sizeBytes);
    await stopped;
  });

  it('refuses calls that come on a connection that is still open', async () => {
    const node = await startTestNode({ files: { 'a.log': LINE } });
    const connection = connect(node.running.node.grpcPort);
    await connection.call('Describe', {});
    const stopped = node.running.stop();
    await expect(connection.call('Describe', {})).rejects.toMatchObject({ cause: { code: status.UNAVAILABLE } });
    await stopped;
  });
});

describe('records of any size', () => {
  it('come in messages that every client takes', async () => {
    const node = await startTestNode();
    const long = `${LINE.trimEnd()}${'x'.repeat(60_000)}\n`;
    writeFileSync(join(node.logDir, 'long.log'), long.repeat(300));
    const remote = connectNode(node.running.node.grpcPort);
    const query = { order: 'oldest', limit: 2, before: 100, after: 100, raw: true, src: ['=long.log'] } as const;
    const found = [];
    for await (const batch of searchItems(remote, { ...query, start: { offset: long.length * 150 } }))
      found.push(...batch);
    expect(found).toMatchObject([{ type: 'record' }, { type: 'record' }, { type: 'end' }]);
    expect(found[0]).toMatchObject({ before: { length: 100 }, after: { length: 100 } });
  });
});
