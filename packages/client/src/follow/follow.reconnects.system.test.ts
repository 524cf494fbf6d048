import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { runs } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import type { HttpMember } from '../member.ts';
import { SYSTEM_CLOCK } from '../retry.ts';
import { collectFollow } from '../testing/collect-follow.ts';
import { startCuttingProxy } from '../testing/cutting-proxy.ts';
import { RestartableNode } from '../testing/restartable-node.ts';
import { testMember } from '../testing/test-client.ts';

/** The real time, but impatient. */
const IMPATIENT = {
  ...SYSTEM_CLOCK,
  wait: (ms: number, signal?: AbortSignal) => SYSTEM_CLOCK.wait(Math.min(ms, 20), signal),
};

const impatientClient = (url: string): HttpMember => testMember({ url, retries: 1000 }, IMPATIENT);

function line(message: string, atMs = Date.now()): string {
  const time = new Date(atMs).toISOString().replace('T', ' ').replace('Z', '');
  return `${time}\tINFO\tmain.go:1\t[Node] [Count]: ${message}\n`;
}

const OLD = line('old', Date.now() - 3_600_000);

/** The same numbers on every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function startFiles(...names: string[]): Promise<RestartableNode> {
  const node = new RestartableNode(Object.fromEntries(names.map((name) => [name, OLD])));
  await node.start();
  return node;
}

/** Numbers written so far, by file; each is written once. */
class Writer {
  readonly written: Record<string, string[]> = {};
  readonly #node: RestartableNode;
  #next = 1;

  constructor(node: RestartableNode) {
    this.#node = node;
  }

  write(name: string, count: number, atMs = Date.now()): void {
    const messages = Array.from({ length: count }, () => `number ${this.#next++}`);
    this.written[name] = [...(this.written[name] ?? []), ...messages];
    this.#node.append(name, messages.map((message) => line(message, atMs)).join(''));
  }
}

const turns = () => new Promise((resolve) => setImmediate(resolve));

/** Where connections are cut; more of them in a long run. */
const SEEDS = Array.from({ length: Math.min(3, runs(1)) }, (_, index) => index + 1);

describe('nothing is lost and nothing is emitted twice', () => {
  it('when the node is stopped and started while one log is written', async () => {
    const node = await startFiles('a.log', 'b.log');
    const writer = new Writer(node);
    const follow = collectFollow(impatientClient(node.url), { src: ['a.log'], start: 'end' });
    await follow.ready;
    for (let round = 0; round < 4; round++) {
      writer.write('a.log', 20);
      const stopping = node.stop();
      writer.write('a.log', 20);
      await stopping;
      writer.write('a.log', 20);
      await node.start();
      writer.write('a.log', 20);
    }
    await eventually(() => expect(follow.messages('a.log')).toEqual(writer.written['a.log']));
    expect(follow.count('reconnecting')).toBeGreaterThan(0);
    expect(follow.count('gap')).toBe(0);
    await follow.stop();
  });

  it('when the node is stopped and started while all logs are written, and one is rotated', async () => {
    const names = ['a.log', 'b.log', 'c.log'];
    const node = await startFiles(...names);
    const writer = new Writer(node);
    const follow = collectFollow(impatientClient(node.url), { start: 'end' });
    await follow.ready;
    for (let round = 0; round < 4; round++) {
      for (const name of names) writer.write(name, 10);
      const stopping = node.stop();
      for (const name of names) writer.write(name, 10);
      await stopping;
      if (round === 1) renameSync(join(node.logDir, 'a.log'), join(node.logDir, 'a.log.1'));
      for (const name of names) writer.write(name, 10);
      await node.start();
    }
    for (const name of names) await eventually(() => expect(follow.messages(name)).toEqual(writer.written[name]));
    expect(follow.count('gap')).toBe(0);
    await follow.stop();
  });

  it.each(SEEDS)('when connections are cut at any byte: one log (%i)', async (seed) => {
    const node = await startFiles('a.log');
    const next = random(seed);
    const proxy = await startCuttingProxy(node.port, () => 1 + Math.floor(next() * 8000));
    const writer = new Writer(node);
    const follow = collectFollow(impatientClient(proxy.url), { src: ['a.log'], start: 'end' });
    await follow.ready;
    for (let round = 0; round < 100; round++) {
      writer.write('a.log', 3);
      await turns();
    }
    await eventually(() => expect(follow.messages('a.log')).toEqual(writer.written['a.log']));
    expect(proxy.cuts).toBeGreaterThan(5);
    await follow.stop();
  });

  it.each(SEEDS)('when connections are cut at any byte: all logs (%i)', async (seed) => {
    const names = ['a.log', 'b.log', 'c.log'];
    const node = await startFiles(...names);
    const next = random(seed);
    const proxy = await startCuttingProxy(node.port, () => 1 + Math.floor(next() * 8000));
    const writer = new Writer(node);
    const follow = collectFollow(impatientClient(proxy.url), { start: 'end' });
    await follow.ready;
    for (let round = 0; round < 100; round++) {
      writer.write(names[Math.floor(next() * 3)] ?? 'a.log', 3);
      await turns();
    }
    for (const name of names) await eventually(() => expect(follow.messages(name)).toEqual(writer.written[name]));
    expect(proxy.cuts).toBeGreaterThan(5);
    await follow.stop();
  });

  it('when the connection is lost before anything was emitted', async () => {
    const node = await startFiles('a.log', 'b.log');
    const writer = new Writer(node);
    const one = collectFollow(impatientClient(node.url), { src: ['a.log'], start: 'end' });
    const all = collectFollow(impatientClient(node.url), { start: 'end' });
    await Promise.all([one.ready, all.ready]);
    await node.stop();
    writer.write('a.log', 5);
    writer.write('b.log', 5);
    await node.start();
    await eventually(() => expect(one.messages('a.log')).toEqual(writer.written['a.log']));
    await eventually(() => expect(all.messages('a.log')).toEqual(writer.written['a.log']));
    await eventually(() => expect(all.messages('b.log')).toEqual(writer.written['b.log']));
    writer.write('b.log', 5);
    await eventually(() => expect(all.messages('b.log')).toEqual(writer.written['b.log']));
    await Promise.all([one.stop(), all.stop()]);
  });

  it('when logs that had emitted nothing, were empty or did not exist get records with old times', async () => {
    const node = await startFiles('a.log', 'quiet.log', 'short.log');
    node.append('empty.log', '');
    const writer = new Writer(node);
    const weekAgoMs = Date.now() - 7 * 86_400_000;
    const query = { start: 'end' } as const;
    const one = collectFollow(impatientClient(node.url), { src: ['quiet.log'], ...query }, { positions: true });
    const all = collectFollow(impatientClient(node.url), query, { positions: true });
    await eventually(() => expect([one.count('position'), all.count('position')]).toEqual([1, 1]));
    for (let round = 0; round < 2; round++) {
      await node.stop();
      for (const name of ['quiet.log', 'short.log', 'empty.log', 'new.log']) writer.write(name, 30, weekAgoMs);
      await node.start();
      for (const name of ['quiet.log', 'short.log', 'empty.log', 'new.log'])
        await eventually(() => expect(all.messages(name)).toEqual(writer.written[name]));
      await eventually(() => expect(one.messages('quiet.log')).toEqual(writer.written['quiet.log']));
      writer.write('a.log', 5);
      await eventually(() => expect(all.messages('a.log')).toEqual(writer.written['a.log']));
    }
    expect([one.count('gap'), all.count('gap')]).toEqual([0, 0]);
    await Promise.all([one.stop(), all.stop()]);
  });

  it.each(SEEDS)('when connections are cut at any byte, and records have any times (%i)', async (seed) => {
    const names = ['a.log', 'b.log', 'c.log', 'new.log', 'newer.log'];
    const node = await startFiles('a.log', 'b.log', 'c.log');
    const next = random(seed);
    let cutAt = () => Infinity;
    const proxy = await startCuttingProxy(node.port, () => cutAt());
    const writer = new Writer(node);
    const follow = collectFollow(impatientClient(proxy.url), { start: 'end' }, { positions: true });
    await eventually(() => expect(follow.count('position')).toBe(1));
    cutAt = () => 1 + Math.floor(next() * 8000);
    proxy.cutAll();
    for (let round = 0; round < 150; round++) {
      const known = round < 50 ? 2 : round < 100 ? 4 : 5;
      const name = names[Math.floor(next() * known)] ?? 'a.log';
      writer.write(name, 3, Date.now() - Math.floor(next() * 10 ** 9));
      await turns();
    }
    for (const name of names)
      await eventually(() => expect([name, follow.messages(name)]).toEqual([name, writer.written[name] ?? []]));
    expect(proxy.cuts).toBeGreaterThan(5);
    expect(follow.count('gap')).toBe(0);
    await follow.stop();
  });

  it.each([
    ['so many back', { back: 50 }],
    ['a time', { timeMs: Date.now() - 3_000_000 }],
  ] as const)('when it begins at %s and is cut while it emits past records', async (_name, start) => {
    const node = await startFiles('a.log', 'b.log');
    const writer = new Writer(node);
    for (let round = 0; round < 5; round++) for (const name of ['a.log', 'b.log']) writer.write(name, 5);
    let cutAt = 400;
    const proxy = await startCuttingProxy(node.port, () => {
      cutAt += 700;
      return cutAt;
    });
    const follow = collectFollow(impatientClient(proxy.url), { start });
    for (const name of ['a.log', 'b.log'])
      await eventually(() => expect(follow.messages(name)).toEqual(writer.written[name]));
    expect(proxy.cuts).toBeGreaterThan(2);
    await follow.stop();
  });

  it('but a line that was emitted unfinished is emitted again, whole', async () => {
    const node = await startFiles('a.log');
    const follow = collectFollow(impatientClient(node.url), { src: ['a.log'], start: { back: 1 } });
    await eventually(() => expect(follow.messages('a.log')).toEqual(['old']));
    const [begun, rest] = [line('half of it').slice(0, -3), 'it\n'];
    node.append('a.log', begun);
    await eventually(() => expect(follow.items.at(-1)).toMatchObject({ type: 'record', unfinished: true }));
    await node.stop();
    node.append('a.log', rest);
    await node.start();
    await eventually(() => expect(follow.messages('a.log').at(-1)).toBe('half of it'));
    await follow.stop();
  });
});
