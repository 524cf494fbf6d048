import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestEtcd } from '@porthole/cluster/testing';
import { eventually } from '@porthole/logs/testing';
import { expect, it } from 'vitest';
import { ClusterProcess } from './testing/cluster-process.ts';

const IDS = ['n1', 'n2', 'n3'];
const EACH = 1200;
const START_MS = Date.parse('2026-11-10T00:00:00Z');

const numbered = (id: string, at: number) => `${id} ${String(at).padStart(4, '0')}`;

/** What there is, whatever a response says. */
const TRUTH = IDS.flatMap((id) => Array.from({ length: EACH }, (_, at) => numbered(id, at)));

function writeAll({ id, cwd }: ClusterProcess): void {
  const lines = Array.from({ length: EACH }, (_, at) => {
    const time = new Date(START_MS + at * 100).toISOString().slice(0, 23).replace('T', ' ');
    return `${time}\tINFO\tmain.go:1\t[Test]: ${numbered(id, at)}\n`;
  });
  appendFileSync(join(cwd, 'logs', 'numbered.log'), lines.join(''));
}

it.each(['newest', 'oldest'] as const)(
  'pages, %s first, through the death of a process, its lease and its return have every record once',
  async (order) => {
    const etcd = await startTestEtcd();
    const flags = ['--cluster-etcd', etcd.url];
    const [n1, n2, n3] = await Promise.all(IDS.map((id) => ClusterProcess.start(id, { flags })));
    if (!n1 || !n2 || !n3) throw new Error('three nodes were started');
    for (const node of [n1, n2, n3]) writeAll(node);
    await n3.waitForSnapshot();
    const messages: string[] = [];
    const outcomes: (string | undefined)[] = [];
    let cursor: string | undefined;
    for (let page = 1; ; page++) {
      const found = await n1.search({ order, limit: 500, ...(cursor !== undefined && { cursor }) });
      messages.push(...found.messages);
      outcomes.push(found.outcomes.n3);
      if (found.end.cursor === null) break;
      ({ cursor } = found.end);
      if (page === 1) await n3.kill();
      if (page === 2) await eventually(async () => expect((await n1.search({ limit: 1 })).outcomes.n3).toBe('gone'));
      if (page === 3) await ClusterProcess.start('n3', { flags, cwd: n3.cwd });
      if (page === 3) await eventually(async () => expect((await n1.search({ limit: 1 })).outcomes.n3).toBe('ok'));
    }
    expect(messages.toSorted()).toEqual(TRUTH);
    expect(outcomes.slice(0, 4)).toEqual(['ok', 'refused', 'gone', 'ok']);
  },
);
