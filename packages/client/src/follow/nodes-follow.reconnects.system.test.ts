import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterFollowItem } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { freePorts } from '@porthole/server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SYSTEM_CLOCK } from '../retry.ts';
import { startCuttingProxy } from '../testing/cutting-proxy.ts';
import { RestartableNode } from '../testing/restartable-node.ts';
import { testClient } from '../testing/test-client.ts';

const DAY_MS = 86_400_000;

/** The real time, but impatient. */
const IMPATIENT = {
  ...SYSTEM_CLOCK,
  wait: (ms: number, signal?: AbortSignal) => SYSTEM_CLOCK.wait(Math.min(ms, 20), signal),
};

function line(message: string, atMs: number): string {
  const time = new Date(atMs).toISOString().replace('T', ' ').replace('Z', '');
  return `${time}\tINFO\tmain.go:1\t[Node] [Count]: ${message}\n`;
}

interface Numbers {
  [log: string]: string[];
}

/** Members `a`, `b` and `c` with numbered records, each written once. */
class NumberedCluster {
  readonly written: Numbers = {};
  readonly nodes = new Map<string, RestartableNode>();

  static async start(): Promise<NumberedCluster> {
    const cluster = new NumberedCluster();
    const ports = await freePorts(3);
    const members = ['a', 'b', 'c'].map((id, index) => `${id}=http://127.0.0.1:${ports[index]}`);
    for (const [index, id] of ['a', 'b', 'c'].entries()) {
      const old = line('old', Date.now() - 30 * DAY_MS);
      const settings = { http: { port: ports[index] ?? 0 }, cluster: { nodeId: id, members } };
      cluster.nodes.set(id, new RestartableNode({ 'first.log': old, 'second.log': old }, settings));
    }
    await Promise.all([...cluster.nodes.values()].map((node) => node.start()));
    return cluster;
  }

  node(id: string): RestartableNode {
    const node = this.nodes.get(id);
    if (!node) throw new Error(`there is no ${id}`);
    return node;
  }

  write(id: string, file: string, count: number, atMs = Date.now()): void {
    const numbers = this.written[`${id} ${file}`] ?? [];
    this.written[`${id} ${file}`] = numbers;
    const added = Array.from({ length: count }, (_, index) => String(numbers.length + index));
    numbers.push(...added);
    this.node(id).append(file, added.map((number) => line(number, atMs)).join(''));
  }
}

/** What a follow of all members has emitted. */
function collect(url: string) {
  const items: ClusterFollowItem[] = [];
  const controller = new AbortController();
  const client = testClient({ url, retries: 1000 }, IMPATIENT);
  const listen = async () => {
    const batches = client.follow({ nodes: ['*'], start: 'end' }, { signal: controller.signal, positions: true });
    for await (const batch of batches) items.push(...batch);
  };
  const listening = listen();
  onTestFinished(async () => {
    controller.abort();
    await listening;
  });
  return {
    count: (type: ClusterFollowItem['type']) => items.filter((item) => item.type === type).length,
    get gaps(): string[] {
      return items
        .flatMap((item) => (item.type === 'gap' && 'node' in item ? [`${item.node} ${item.family}`] : []))
        .sort();
    },
    get numbers(): Numbers {
      const numbers: Numbers = {};
      for (const item of items) {
        if (item.type !== 'record') continue;
        const log = `${item.node} ${item.file}`;
        numbers[log] = [...(numbers[log] ?? []), item.message];
      }
      return numbers;
    },
  };
}

describe('a follow of several members emits every record once, in the order of its file', () => {
  it.each([1, 3000])('while its connections are cut at every point (%i)', async (firstCut) => {
    const cluster = await NumberedCluster.start();
    let cutAt = firstCut;
    let isCutting = false;
    // A little later each time: within a record, between two, and while others are held back for earlier ones.
    const proxy = await startCuttingProxy(cluster.node('a').port, () => {
      cutAt += 173;
      return isCutting ? cutAt : Infinity;
    });
    const follow = collect(proxy.url);
    await eventually(() => expect(follow.count('position')).toBe(3));
    isCutting = true;
    proxy.cutAll();
    for (let round = 0; round < 60; round++) {
      // Times that never agree with the order in which records are written.
      const behindMs = [0, 40, 120, 7 * DAY_MS][round % 4] ?? 0;
      for (const id of ['a', 'b', 'c'])
        cluster.write(id, round % 3 === 0 ? 'first.log' : 'late.log', 3, Date.now() - behindMs);
      await SYSTEM_CLOCK.wait(10);
    }
    await eventually(() => expect(follow.numbers).toEqual(cluster.written));
    expect(proxy.cuts).toBeGreaterThan(5);
    expect(follow.count('gap')).toBe(0);
  });

  it('also of logs that were quiet, empty or new, with old times, when members and the asked node are restarted', async () => {
    const cluster = await NumberedCluster.start();
    for (const node of cluster.nodes.values()) node.append('empty.log', '');
    const follow = collect(cluster.node('a').url);
    await eventually(() => expect(follow.count('position')).toBe(3));
    for (const restarted of ['b', 'a', 'c']) {
      await cluster.node(restarted).stop();
      for (const id of ['a', 'b', 'c'])
        for (const file of ['first.log', 'empty.log', 'new.log']) cluster.write(id, file, 20, Date.now() - 7 * DAY_MS);
      await cluster.node(restarted).start();
      await eventually(() => expect(follow.numbers).toEqual(cluster.written));
    }
    expect(follow.count('gap')).toBe(0);
  });

  it('and reports a gap where a log is gone while nobody was connected, although it does not exist yet', async () => {
    const cluster = await NumberedCluster.start();
    const follow = collect(cluster.node('a').url);
    await eventually(() => expect(follow.count('position')).toBe(3));
    cluster.write('b', 'late.log', 5);
    await eventually(() => expect(follow.numbers).toEqual(cluster.written));
    await cluster.node('a').stop();
    await cluster.node('b').stop();
    for (const file of ['first.log', 'second.log', 'late.log']) rmSync(join(cluster.node('b').logDir, file));
    await cluster.node('b').start();
    await cluster.node('a').start();
    await eventually(() => expect(follow.gaps).toEqual(['b first.log', 'b late.log', 'b second.log']));
    cluster.write('b', 'late.log', 5);
    await eventually(() => expect(follow.numbers).toEqual(cluster.written));
    expect(follow.count('gap')).toBe(3);
  });

  it('and reports a gap where a log was replaced while its member was down', async () => {
    const cluster = await NumberedCluster.start();
    const follow = collect(cluster.node('a').url);
    await eventually(() => expect(follow.count('position')).toBe(3));
    cluster.write('b', 'first.log', 5);
    await eventually(() => expect(follow.numbers).toEqual(cluster.written));
    await cluster.node('b').stop();
    rmSync(join(cluster.node('b').logDir, 'first.log'));
    cluster.write('b', 'first.log', 5);
    cluster.write('b', 'second.log', 5);
    await cluster.node('b').start();
    await eventually(() => expect(follow.numbers).toEqual(cluster.written));
    expect(follow.count('gap')).toBe(1);
  });
});
