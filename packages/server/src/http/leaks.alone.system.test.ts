import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually, openBelow } from '@porthole/logs/testing';
import { runs } from '@porthole/records/testing';
import { expect, it } from 'vitest';
import { openRequest, sendRequest } from '../testing/send-request.ts';
import { countConnections, startTestNode } from '../testing/test-node.ts';

/** More than the socket buffers hold, so that the node is stopped midway; and less, so that its last byte is on its way. */
const FILES = { 'a.log': lines(1_000), 'middle.log': lines(450_000), 'big.log': lines(1_200_000) };

const MIB = 1024 * 1024;

/**
 * Ten responses each, half of them dropped: a chunk kept of each would be several times the memory that may be held.
 * `MORE=20` makes it twenty times as many.
 */
const ROUNDS = runs(120);

/** Five of ten answers are read to the end, three are dropped after the head and two before it. */
const READ = ['log/view?file=a.log', 'log/raw?file=a.log', 'log/list', 'config', 'log/view?file=absent'];
const DROPPED = ['log/raw?file=big.log', 'log/view?file=big.log&size=8000000', 'log/raw?file=middle.log'];
const LEFT = ['log/raw?file=big.log', 'log/view?file=a.log'];

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function lines(count: number): Buffer {
  return Buffer.from('a line\n'.repeat(count));
}

/** Asks and is gone before the answer. */
function leave(port: number, path: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`, () => socket.destroy());
    socket.once('close', () => resolve());
  });
}

function heldBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

it('a thousand responses and more, half of them dropped midway, leave nothing behind', async () => {
  const { port, logDir } = await startTestNode({
    files: FILES,
    settings: { http: { maxStreams: 1000, maxStreamsPerClient: 1000 } },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const drop = async (path: string) => {
    const response = await openRequest(port, `/api/v1/${path}`);
    response.once('error', () => {});
    response.destroy();
  };
  const round = async () => {
    for (const path of READ) await sendRequest(port, `/api/v1/${path}`, { agent });
    for (const path of DROPPED) await drop(path);
    for (const path of LEFT) await leave(port, `/api/v1/${path}`);
  };
  const rounds = async (count: number) => {
    const worker = async () => {
      for (let i = 0; i < count / 20; i++) await round();
    };
    await Promise.all(Array.from({ length: 20 }, worker));
  };

  await rounds(60); // fills caches and pools, whose size is bounded
  const before = heldBytes();
  await rounds(ROUNDS);

  await eventually(async () => {
    const text = (await sendRequest(port, '/metrics')).body.toString();
    expect(text).toMatch(/^porthole_open_streams 0$/m);
    expect(text).toMatch(/^porthole_open_log_files 0$/m);
    expect(text).not.toMatch(/status="5\d\d"|reason="source"\} [1-9]/);
    const cut = Number(/^porthole_http_cut_answers_total\{reason="client"\} (\d+)$/m.exec(text)?.[1]);
    expect(cut).toBeGreaterThan(ROUNDS); // of the others the last byte was with the system already
  });
  agent.destroy();
  await eventually(() => expect(countConnections(port)).toBe(0));
  await eventually(() => expect(openBelow(logDir)).toBe(0));
  expect((heldBytes() - before) / MIB).toBeLessThan(10);
});
