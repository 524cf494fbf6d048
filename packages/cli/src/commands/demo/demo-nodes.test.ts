import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { tempDir } from '@porthole/records/testing';
import { StartError, startNode } from '@porthole/server';
import { expect, it, onTestFinished } from 'vitest';
import { freePorts, startOnFreePorts } from './demo-nodes.ts';

/** Somebody who was faster. */
async function take(port: string): Promise<Server> {
  const server = createServer((socket) => void socket.destroy()).listen(Number(port), '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return server;
}

async function start([port = '']: readonly string[]) {
  const logging = { dir: tempDir() };
  const node = await startNode({ settings: { logging }, flags: { 'http.port': port, 'grpc.port': '0' } });
  onTestFinished(() => node.stop());
  return node;
}

it('a node starts on another port if somebody was faster', async () => {
  const drawn: string[] = [];
  const draw = async () => {
    const ports = (await freePorts(1)).map(String);
    if (drawn.push(...ports) === 1) await take(ports[0] ?? '');
    return ports;
  };
  const { url } = await startOnFreePorts({ draw, chosen: '0' }, start);
  expect(drawn).toHaveLength(2);
  expect(new URL(url).port).toBe(drawn[1]);
});

it('a port that stays taken is reported, one that was chosen at once', async () => {
  const [taken = ''] = (await freePorts(1)).map(String);
  await take(taken);
  let draws = 0;
  const draw = async () => {
    draws++;
    return [taken];
  };
  await expect(startOnFreePorts({ draw, chosen: taken }, start)).rejects.toThrow(`port ${taken} is in use`);
  expect(draws).toBe(1);
  await expect(startOnFreePorts({ draw }, start)).rejects.toThrow(`port ${taken} is in use`);
  expect(draws).toBe(6);
});

it('any other failure is reported at once', async () => {
  let draws = 0;
  const draw = async () => [String(++draws)];
  const fail = () => Promise.reject(new StartError('no'));
  await expect(startOnFreePorts({ draw }, fail)).rejects.toThrow('no');
  expect(draws).toBe(1);
});
