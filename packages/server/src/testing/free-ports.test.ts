import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { freePorts } from './free-ports.ts';

it('never gives a port twice in a row, nor one that is taken', async () => {
  const [taken = 0] = await freePorts(1);
  const server = createServer().listen(taken, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const ports = await freePorts(400);
  expect(new Set(ports).size).toBe(400);
  // All of its ports have their turn again, except that one.
  expect([...ports, ...(await freePorts(400))]).not.toContain(taken);
});

it('gives other threads and checkouts none of its ports, although nobody listens there', async () => {
  const mine = await freePorts(20);
  // Loaded once more, as another thread would.
  const copy = `${import.meta.dirname}/free-ports.ts?copy`;
  const other = (await import(/* @vite-ignore */ copy)) as typeof import('./free-ports.ts');
  expect(other.freePorts).not.toBe(freePorts);
  const theirs = await other.freePorts(400);
  expect(theirs.filter((port) => mine.includes(port))).toEqual([]);
  const ranges = [mine, theirs].map((ports) => ports.map((port) => Math.floor((port - 20_000) / 500)));
  expect(ranges.map((range) => new Set(range).size)).toEqual([1, 1]);
});
