import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cpuSeconds } from '../bench/process-usage.ts';
import { AttackedNode } from './testing/attacked-node.ts';
import { openMany } from './testing/raw-http.ts';

const METHOD = '/porthole.v1.NodeStateService/SearchLogs';
const REQUEST = { ':method': 'POST', ':path': METHOD, 'content-type': 'application/grpc', te: 'trailers' };

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const FRAME = { headers: 1, reset: 3, settings: 4, ping: 6, continuation: 9 };
const END_HEADERS = 4;
const CANCEL = 8;

/** HPACK: a literal that is not kept, with a name of the table; `:method: POST` and `:scheme: http` stand there whole. */
const NAMED = 0;
const POST_AND_HTTP = Buffer.from([0x83, 0x86]);
const AUTHORITY = 1;
const PATH = 4;

const CALL_HEADERS = Buffer.concat([
  POST_AND_HTTP,
  header(PATH, METHOD),
  header(AUTHORITY, 'localhost'),
  header('content-type', 'application/grpc'),
  header('te', 'trailers'),
]);

/** Frames that cost the sender little, and that some servers keep or answer without end. */
const FLOODS: Readonly<Record<string, Buffer>> = {
  settings: Buffer.concat([PREFACE, repeated(frame(FRAME.settings, 0), 200_000)]),
  pings: Buffer.concat([
    PREFACE,
    frame(FRAME.settings, 0),
    repeated(frame(FRAME.ping, 0, { payload: Buffer.alloc(8) }), 100_000),
  ]),
  'headers without end': Buffer.concat([
    PREFACE,
    frame(FRAME.settings, 0),
    frame(FRAME.headers, 1),
    repeated(frame(FRAME.continuation, 1, { payload: Buffer.alloc(16) }), 50_000),
  ]),
  nonsense: Buffer.alloc(1024 * 1024, 'this is not HTTP/2 '),
};

describe('the gRPC port', () => {
  it('closes a connection that opens calls only to take them back, and stays quick', async () => {
    const node = await AttackedNode.start();
    const port = await node.grpcPort();
    (await openSession(port)).destroy(); // the code is loaded with the first connection
    const [memory, cpu] = [node.residentMib, cpuSeconds(node.program.pid)];
    const flood = callsTakenBack(20_000);
    for (let round = 0; round < 3; round++) {
      const [socket] = await openMany(port, 1);
      socket?.resume().write(flood);
      await eventually(() => expect(socket?.destroyed).toBe(true));
    }
    expect(node.residentMib - memory).toBeLessThan(100);
    expect(cpuSeconds(node.program.pid) - cpu).toBeLessThan(10);
    await node.expectHealthy();
  });

  it('lets one connection have a bounded number of calls that never end', async () => {
    const node = await AttackedNode.start({ flags: ['--http-max-streams', '10'] });
    const session = await openSession(await node.grpcPort());
    expect(session.remoteSettings.maxConcurrentStreams).toBe(256);
    const memory = node.residentMib;
    for (let call = 0; call < 600; call++) session.request(REQUEST).on('error', () => {});
    await node.request('api/v1/log/list');
    expect(node.residentMib - memory).toBeLessThan(60);
    await node.expectHealthy();
  });

  it.each(Object.entries(FLOODS))('ends a flood of %s', async (_, bytes) => {
    const node = await AttackedNode.start();
    const port = await node.grpcPort();
    (await openSession(port)).destroy();
    const memory = node.residentMib;
    const [socket] = await openMany(port, 1);
    socket?.pause().write(bytes);
    await eventually(() => expect(socket?.destroyed || socket?.readableLength || socket?.errored).toBeTruthy());
    socket?.resume();
    await eventually(() => expect(socket?.destroyed).toBe(true));
    expect(node.residentMib - memory).toBeLessThan(60);
    await node.expectHealthy();
  });
});

async function openSession(port: number): Promise<ClientHttp2Session> {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => {}); // it is closed on us, that is the point
  onTestFinished(() => session.destroy());
  await once(session, 'remoteSettings');
  return session;
}

/** As bytes: making calls one by one would keep the attacker busier than the node. */
function callsTakenBack(count: number): Buffer {
  const parts = [PREFACE, frame(FRAME.settings, 0)];
  for (let call = 0; call < count; call++) {
    const stream = call * 2 + 1;
    parts.push(frame(FRAME.headers, stream, { payload: CALL_HEADERS, flags: END_HEADERS }));
    parts.push(frame(FRAME.reset, stream, { payload: Buffer.from([0, 0, 0, CANCEL]) }));
  }
  return Buffer.concat(parts);
}

interface FrameRest {
  payload?: Buffer;
  flags?: number;
}

function frame(type: number, stream: number, { payload = Buffer.alloc(0), flags = 0 }: FrameRest = {}): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header as HPACK writes it in full; names by their number in its table. */
function header(name: number | string, value: string): Buffer {
  const named = typeof name === 'number' ? [NAMED + name] : [0, name.length, ...Buffer.from(name)];
  return Buffer.from([...named, value.length, ...Buffer.from(value)]);
}

function repeated(bytes: Buffer, times: number): Buffer {
  return Buffer.alloc(bytes.length * times, bytes);
}
