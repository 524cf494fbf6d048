import type { IncomingMessage } from 'node:http';
import { eventually, openBelow, scaled } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { openRequest, openSocket, readToEnd, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

/** More than all socket buffers of a loopback connection hold. */
const BIG = Buffer.alloc(32 * 1024 * 1024, 'a line of a log file\n');
const RAW = '/api/v1/log/raw?file=big.log';

/** A reader that reads does so more often, also on a machine that is busy with much else. */
const STALL_MS = scaled(2000);

async function metric(port: number, sample: string): Promise<number> {
  const text = (await sendRequest(port, '/metrics')).body.toString();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${sample} `));
  return line === undefined ? 0 : Number(line.slice(sample.length + 1));
}

async function readAll(response: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const part of response) bytes += (part as Buffer).length;
  return bytes;
}

describe('a reader that takes no byte for http.stall-timeout', () => {
  it('is cut, counted in the metrics, and releases its slot and its file', async () => {
    const { port, logDir } = await startTestNode({
      files: { 'big.log': BIG },
      settings: { http: { stallTimeoutMs: 200 } },
    });
    const response = await openRequest(port, RAW);
    await eventually(async () =>
      expect(await metric(port, 'porthole_http_cut_answers_total{reason="stalled"}')).toBe(1),
    );
    await expect(readAll(response)).rejects.toThrow('aborted');
    await eventually(async () => expect(await metric(port, 'porthole_open_streams')).toBe(0));
    await eventually(() => expect(openBelow(logDir)).toBe(0));
  });

  it('is disconnected in numbers, while others are served', async () => {
    const { port } = await startTestNode({
      files: { 'big.log': BIG, 'a.log': 'text\n' },
      settings: { http: { stallTimeoutMs: STALL_MS, maxStreamsPerClient: 128 } },
    });
    const stalled = await Promise.all(Array.from({ length: 40 }, () => openRequest(port, RAW)));
    expect((await sendRequest(port, '/api/v1/log/view?file=a.log')).body.toString()).toBe('text\n');
    expect(await readAll(await openRequest(port, RAW))).toBe(BIG.length);
    await eventually(async () =>
      expect(await metric(port, 'porthole_http_cut_answers_total{reason="stalled"}')).toBe(40),
    );
    for (const response of stalled) response.destroy();
  });

  it('is not one that reads slowly but steadily', async () => {
    const { port } = await startTestNode({
      files: { 'big.log': BIG },
      settings: { http: { stallTimeoutMs: STALL_MS } },
    });
    const response = await openRequest(port, RAW);
    let bytes = 0;
    for await (const part of response) {
      bytes += (part as Buffer).length;
      // pause: 64 of them, longer than the timeout together, far shorter each.
      if (bytes % (512 * 1024) < 65_536) await new Promise((resolve) => setTimeout(resolve, STALL_MS / 50));
    }
    expect(bytes).toBe(BIG.length);
  });

  it('is not a connection that rests between two requests', async () => {
    const { port } = await startTestNode({ files: { 'a.log': 'text\n' }, settings: { http: { stallTimeoutMs: 300 } } });
    const socket = openSocket(port);
    socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    await new Promise((resolve) => setTimeout(resolve, 700)); // pause: the resting itself is looked at
    socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 200 OK/);
  });
});

describe('a client that leaves', () => {
  it('midway gives its slot and its file back, and is no failure of the node', async () => {
    const { port, logDir } = await startTestNode({ files: { 'big.log': BIG } });
    const response = await openRequest(port, RAW);
    expect(await metric(port, 'porthole_open_streams')).toBe(1);
    response.destroy();
    await eventually(async () => expect(await metric(port, 'porthole_open_streams')).toBe(0));
    await eventually(() => expect(openBelow(logDir)).toBe(0));
    await eventually(async () =>
      expect(await metric(port, 'porthole_http_cut_answers_total{reason="client"}')).toBe(1),
    );
    expect(await metric(port, 'porthole_http_cut_answers_total{reason="source"}')).toBe(0);
  });

  it('before the response has started is not counted as an error of the node', async () => {
    let pulls = 0;
    // It is read when the node starts, for its history and for the request.
    const config = () => (pulls++ < 2 ? 'a = 1' : new Promise<string>(() => {}));
    const { port } = await startTestNode({ config });
    const socket = openSocket(port);
    socket.write('GET /api/v1/config HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await eventually(() => expect(pulls).toBeGreaterThanOrEqual(3));
    socket.destroy();
    await eventually(async () =>
      expect(await metric(port, 'porthole_http_cut_answers_total{reason="client"}')).toBe(1),
    );
    expect((await sendRequest(port, '/metrics')).body.toString()).not.toMatch(/status="5\d\d"/);
  });
});
