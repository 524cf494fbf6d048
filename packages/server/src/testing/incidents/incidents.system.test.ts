import { type NodeEvent, type NodeState, searchItems, toEvent } from '@porthole/contract';
import type { FoundRecord } from '@porthole/logs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { generateIncident, INCIDENT_NAMES, QUIET_NAMES } from './generate-incident.ts';
import { type Cause, judgeIncident, type ReportItem, type Truth } from './incident.ts';
import { openIncident } from './open-incident.ts';

const ALL = { order: 'oldest', limit: 1000, before: 0, after: 0 } as const;

interface ReadNode {
  id: string;
  state: NodeState;
  events: NodeEvent[];
}

async function readNode(id: string, state: NodeState): Promise<ReadNode> {
  const found: FoundRecord[] = [];
  for await (const items of searchItems({ search: (request, options) => state.events(request, options) }, ALL))
    for (const item of items) if (item.type === 'record') found.push(item);
  return { id, state, events: found.flatMap((record) => toEvent(record) ?? []) };
}

const countLines = (text: string) => text.split('\n').length - 1;

/** Whether what names the cause is in the data; a burst is derived from it. */
async function isTraced(cause: Cause, nodes: readonly ReadNode[]): Promise<boolean> {
  const isNamed = (id: unknown) => !('nodes' in cause) || (cause.nodes?.includes(String(id)) ?? true);
  if ('event' in cause) {
    const isAbout = (id: string, { kind, fields }: NodeEvent) =>
      kind === cause.event && isNamed(fields.member ?? id) && (!cause.key || String(fields.keys).includes(cause.key));
    return cause.event === 'log-burst' || nodes.some(({ id, events }) => events.some((event) => isAbout(id, event)));
  }
  const counts = nodes.map(async ({ id, state }) => {
    if ('field' in cause) {
      const { values } = await state.logTop({ by: cause.field, limit: 1, values: [cause.value] });
      return values[0]?.count ?? 0;
    }
    if (!isNamed(id)) return 0;
    return (await state.logDigest({ limit: 1, terms: [cause.pattern] })).totalGroups;
  });
  return (await Promise.all(counts)).some((count) => count > 0);
}

describe('generateIncident', () => {
  it.each([...INCIDENT_NAMES, ...QUIET_NAMES])('%s is read by the engine as it was written', async (name) => {
    const incident = generateIncident(name, 1);
    const { fromMs, toMs, nodes, truth } = incident;
    const opened = await openIncident(incident);
    onTestFinished(() => opened.close());
    const read: ReadNode[] = [];
    for (const { id, logs, events: eventText } of nodes) {
      const state = opened.states[id];
      if (!state) throw new Error(`no state of ${id}`);
      const node = await readNode(id, state);
      read.push(node);
      const lines = Object.values(logs).reduce((sum, text) => sum + countLines(text), 0);
      expect(lines).toBeLessThan(8000);
      const { buckets, untimed, end } = await state.logHistogram({ bucketMs: 60_000, buckets: 60 });
      const levels = buckets.flatMap(({ counts }) => Object.keys(counts));
      expect({ untimed, problems: end.problems }).toEqual({ untimed: 0, problems: [] });
      expect(levels).not.toContain('NONE');
      // A clock may have been set by that much.
      expect(buckets.at(-1)?.startMs).toBeLessThan(toMs + 120_000);
      expect(buckets[0]?.startMs).toBeGreaterThan(toMs - 126 * 60_000);
      expect(node.events.length).toBe(countLines(eventText));
      const { periods, isComplete } = await state.configHistory({ limit: 100 });
      const changes = node.events.filter(({ kind }) => kind === 'config-changed');
      expect({ periods: periods.length, isComplete }).toEqual({ periods: changes.length + 1, isComplete: true });
      for (const { version } of periods) expect((await state.configVersion(version)).version).toBe(version);
    }
    for (const cause of truth.causes) expect([cause, await isTraced(cause, read)]).toEqual([cause, true]);
    if (!truth.isIncident) return;
    const { startMs = 0, endMs = 0, firstNodes = [] } = truth;
    expect([fromMs, startMs, endMs, toMs]).toEqual([fromMs, startMs, endMs, toMs].sort((a, b) => a - b));
    expect(read.map(({ id }) => id)).toEqual(expect.arrayContaining([...firstNodes]));
    expect(truth.causes.length).toBeGreaterThan(0);
  });
});

it('the same seed makes the same incident, another one another', () => {
  for (const name of ['slow-shard', 'restart-loop', 'night'])
    expect(generateIncident(name, 1)).toEqual(generateIncident(name, 1));
  expect(generateIncident('night', 1)).not.toEqual(generateIncident('night', 2));
});

describe('judgeIncident', () => {
  const truth: Truth = {
    isIncident: true,
    causes: [{ event: 'config-changed', nodes: ['a-2'], key: 'wal.dir' }, { pattern: 'cannot  append' }],
    decoys: [{ event: 'started' }],
    firstNodes: ['a-2'],
    startMs: 1000,
  };
  const change: ReportItem = { nodes: ['a-2', 'a-1'], event: { kind: 'config-changed', keys: ['wal.dir'] } };
  const start: ReportItem = { nodes: ['a-1'], event: { kind: 'started' } };

  it.each<[string, readonly ReportItem[], object]>([
    ['the cause is first', [change, start], { isRight: true, rank: 1, isMisled: false }],
    ['the cause is third', [start, start, change], { isRight: true, rank: 3, isMisled: true }],
    ['the cause is fourth', [start, start, start, change], { isRight: false, rank: 4 }],
    ['the change is of another node', [{ ...change, nodes: ['a-1', 'a-2'] }], { isRight: false, rank: undefined }],
    ['the pattern names it', [{ nodes: ['a-1'], pattern: 'Cannot append to *' }], { isRight: true, rank: 1 }],
    ['nothing is named', [], { isRight: false }],
  ])('%s', (_name, items, verdict) => {
    expect(judgeIncident({ isQuiet: false, items, firstNode: 'a-2', startMs: 900 }, truth)).toMatchObject({
      ...verdict,
      isFirstNodeRight: true,
      startErrorMs: -100,
    });
  });

  it('only the first three fields of an item count', () => {
    const byField: Truth = { isIncident: true, causes: [{ field: 'shard', value: '7' }] };
    const fields = ['a', 'b', 'c', 'ctx.shard'].map((name) => ({ name, value: '7' }));
    expect(judgeIncident({ isQuiet: false, items: [{ nodes: [], fields }] }, byField).isRight).toBe(false);
    expect(judgeIncident({ isQuiet: false, items: [{ nodes: [], fields: fields.slice(1) }] }, byField).isRight).toBe(
      true,
    );
  });

  it('a report of a quiet hour has to say that it is quiet', () => {
    const quiet: Truth = { isIncident: false, causes: [] };
    expect(judgeIncident({ isQuiet: true, items: [start] }, quiet).isRight).toBe(true);
    expect(judgeIncident({ isQuiet: false, items: [start] }, quiet).isRight).toBe(false);
    expect(judgeIncident({ isQuiet: true, items: [change] }, truth).isRight).toBe(false);
  });
});
