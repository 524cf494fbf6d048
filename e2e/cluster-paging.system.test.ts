import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestEtcd } from '@porthole/cluster/testing';
import type { ClusterEnd, ClusterRecord } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { expect, it } from 'vitest';
import { ClusterProcess } from './testing/cluster-process.ts';

const IDS = ['n1', 'n2', 'n3'];
const EACH = 1200;
const START_MS = Date.parse('2026-11-10T00:00:00Z');

const numbered = (id: string, at: number) => `${id} ${String(at).padStart(4, '0')}`;

/** What there is, whatever a response says. */
const TRUTH = IDS.flatMap((id) => Array.from({ length: EACH }, (_, at) => numbered(id, at)));

function writeLines({ id, cwd }: ClusterProcess, from: number, to: number): void {
  const lines = Array.from({ length: to - from }, (_, index) => {
    const time = new Date(START_MS + (from + index) * 100).toISOString().slice(0, 23).replace('T', ' ');
    return `${time}\tINFO\tmain.go:1\t[Test]: ${numbered(id, from + index)}\n`;
  });
  appendFileSync(join(cwd, 'logs', 'numbered.log'), lines.join(''));
}

/** Most of it while it is recorded: of what was written before, a recording has only the end. */
async function writeAll(nodes: readonly ClusterProcess[], recorded: ClusterProcess, by: ClusterProcess): Promise<void> {
  for (const node of nodes) writeLines(node, 0, 1);
  await recorded.waitForRecording(by);
  for (const node of nodes) writeLines(node, 1, EACH);
  await recorded.waitForRecording(by);
}

it('pages in both orders, through the death of a process, its lease and its return, have every record once', async () => {
  const etcd = await startTestEtcd();
  const flags = ['--cluster-etcd', etcd.url];
  const [n1, n2, n3] = await Promise.all(IDS.map((id) => ClusterProcess.start(id, { flags })));
  if (!n1 || !n2 || !n3) throw new Error('three nodes were started');
  await writeAll([n1, n2, n3], n3, n1);
  const searches = (['newest', 'oldest'] as const).map((order) => new PagedSearch(n1, order));
  const nextPages = () => Promise.all(searches.map((search) => search.next()));
  await nextPages();
  await n3.kill();
  await nextPages();
  await eventually(async () => expect((await n1.search({ limit: 1 })).outcomes.n3).toBe('gone'));
  await nextPages();
  await ClusterProcess.start('n3', { flags, cwd: n3.cwd });
  await eventually(async () => expect((await n1.search({ limit: 1 })).outcomes.n3).toBe('ok'));
  while (searches.some(({ isOver }) => !isOver)) await nextPages();
  for (const { messages, outcomes } of searches) {
    expect(messages.toSorted()).toEqual(TRUTH);
    expect(outcomes.slice(0, 4)).toEqual(['ok', 'refused', 'gone', 'ok']);
  }
});

it('pages of a member that is gone have every record once, in both orders, by every client and of every size', async () => {
  const etcd = await startTestEtcd();
  const flags = ['--cluster-etcd', etcd.url];
  const [n1, n3] = await Promise.all(['n1', 'n3'].map((id) => ClusterProcess.start(id, { flags })));
  if (!n1 || !n3) throw new Error('two nodes were started');
  await writeAll([n3], n3, n1);
  await n3.kill();
  const oldest = Array.from({ length: EACH }, (_, at) => numbered('n3', at));
  for (const order of ['oldest', 'newest'] as const) {
    const expected = order === 'oldest' ? oldest : oldest.toReversed();
    for (const limit of [50, 100, 400, 500, 1000]) {
      const search = new PagedSearch(n1, order, { limit, nodes: ['n3'] });
      while (!search.isOver) await search.next();
      expect({ order, limit, messages: search.messages }).toEqual({ order, limit, messages: expected });
      const plain: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const start = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const items = await n1.lines<ClusterRecord | ClusterEnd>(
          `/log/search?nodes=n3&src=numbered.log&order=${order}&limit=${limit}${start}`,
        );
        for (const item of items) if (item.type === 'record') plain.push(item.message);
        cursor = (items.at(-1) as ClusterEnd).cursor;
      }
      expect({ order, limit, plain }).toEqual({ order, limit, plain: expected });
    }
  }
  const { stdout } = await n1.cli('logs', 'search', 'n3', 'n3:', '-n', String(2 * EACH), '--prefix', 'never');
  expect([...stdout.matchAll(/n3 \d{4}$/gm)].map(([text]) => text).toSorted()).toEqual(oldest);
});

/** A search of all members, page by page. */
class PagedSearch {
  readonly #node: ClusterProcess;
  readonly #order: 'newest' | 'oldest';
  readonly #request: { limit: number; nodes?: readonly string[] };
  #cursor: string | null | undefined;
  readonly messages: string[] = [];
  /** What each page reports of the member that dies. */
  readonly outcomes: (string | undefined)[] = [];

  constructor(
    node: ClusterProcess,
    order: 'newest' | 'oldest',
    request: { limit: number; nodes?: readonly string[] } = { limit: 500 },
  ) {
    this.#node = node;
    this.#order = order;
    this.#request = request;
  }

  get isOver(): boolean {
    return this.#cursor === null;
  }

  async next(): Promise<void> {
    if (this.#cursor === null) return;
    const start = this.#cursor === undefined ? {} : { cursor: this.#cursor };
    const { messages, outcomes, end } = await this.#node.search({ order: this.#order, ...this.#request, ...start });
    this.messages.push(...messages);
    this.outcomes.push(outcomes.n3);
    this.#cursor = end.cursor;
  }
}
