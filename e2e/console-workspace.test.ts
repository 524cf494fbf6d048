import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LogWorkspace, type OpenWorkspace, recordKey } from '@porthole/console/testing';
import { eventually } from '@porthole/logs/testing';
import { startNode, testSettings } from '@porthole/server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { appendTo, type ConsoleCluster, family, line, lines, startConsoleCluster } from './testing/console-logs.ts';

/** Current times: records followed by time must not be older than those shown. */
const fresh = (text: string, level = 'INFO') => line((Date.now() - Date.UTC(2026, 10, 15, 5)) / 1000, text, level);

function openWorkspace(setup: Pick<OpenWorkspace, 'source'> & Partial<OpenWorkspace>) {
  const workspace = new LogWorkspace();
  onTestFinished(() => workspace.close());
  workspace.open({ filter: {}, find: null, start: 'end', isLive: true, ...setup });
  const shown = () =>
    workspace.state.rows.map((row) => (row.kind === 'record' ? `${row.record.node} ${row.record.message}` : row.kind));
  return { workspace, shown };
}

/** Restarts the node with the same address and directory. */
async function restart({ nodes }: ConsoleCluster, index: number): Promise<void> {
  const node = nodes[index];
  if (!node) throw new Error('no such node');
  const { port, dir } = node;
  await node.running.stop();
  const settings = testSettings(dir, {
    http: { port },
    node: { timeZone: 'UTC' },
    cluster: { nodeId: `n${index + 1}` },
  });
  const running = await startNode({ settings });
  onTestFinished(() => running.stop());
}

describe('a workspace over real nodes', () => {
  it('follows one log through a pause, a rotation and a restart of its node', async () => {
    const cluster = await startConsoleCluster([{ 'a.log': lines(0, 4) }]);
    const { workspace, shown } = openWorkspace({ source: cluster.source(family('n1', 'a.log')) });
    await eventually(() => expect(shown()).toHaveLength(5));
    const [node] = cluster.nodes;
    appendTo(node, 'a.log', fresh('one'));
    await eventually(() => expect(shown().at(-1)).toBe('n1 one'));
    workspace.pause();
    appendTo(node, 'a.log', fresh('two', 'ERROR'));
    await eventually(() =>
      expect(workspace.state.follow).toMatchObject({ state: 'paused', newRecords: 1, newErrors: 1 }),
    );
    expect(shown().at(-1)).toBe('n1 one');
    const dir = node?.logDir ?? '';
    renameSync(join(dir, 'a.log'), join(dir, 'a.log.1'));
    writeFileSync(join(dir, 'a.log'), fresh('three'));
    await eventually(() => expect(workspace.state.follow.newRecords).toBe(2));
    workspace.resume();
    expect(shown().slice(5)).toEqual(['n1 one', 'n1 two', 'event', 'n1 three']);
    await restart(cluster, 0);
    appendTo(node, 'a.log', fresh('four'));
    await eventually(() => expect(shown().at(-1)).toBe('n1 four'));
    const records = shown().filter((text) => text.startsWith('n1 '));
    expect(records.slice(5)).toEqual(['n1 one', 'n1 two', 'n1 three', 'n1 four']);
    expect(workspace.state.follow).toMatchObject({ state: 'live', reason: null });
  });

  it('follows all logs of all nodes without losing or repeating a line', async () => {
    const { nodes, source } = await startConsoleCluster([1, 2, 3].map(() => ({ 'a.log': fresh('first') })));
    const { workspace, shown } = openWorkspace({ source: source() });
    await eventually(() => expect(shown()).toHaveLength(3));
    for (let round = 0; round < 30; round++) {
      for (const node of nodes) appendTo(node, 'a.log', fresh(`round ${round}`));
      if (round % 10 === 3) workspace.pause();
      if (round % 10 === 7) workspace.resume();
      await new Promise((resolve) => setImmediate(resolve));
    }
    workspace.resume();
    const expected = ['n1', 'n2', 'n3'].flatMap((id) => [
      `${id} first`,
      ...Array.from({ length: 30 }, (_, round) => `${id} round ${round}`),
    ]);
    await eventually(() => expect(shown().toSorted()).toEqual(expected.toSorted()));
    expect(workspace.state.members.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
  });

  it('a link to a record of a cluster opens around it, and a filter keeps it', async () => {
    const { source } = await startConsoleCluster([1, 2].map(() => ({ 'a.log': lines(0, 999) })));
    const log = source(family('*', 'a.log'));
    const { records } = await log.page({ direction: 'newer', from: { fraction: 0.5 }, limit: 1, filter: {} });
    const [record] = records;
    if (!record) throw new Error('nothing there');
    const at = { node: record.node, cursor: record.cursor };
    const { workspace } = openWorkspace({ source: log, start: { at }, isLive: false });
    await eventually(() => expect(workspace.state.focusedKey).toBe(recordKey(at)));
    expect(workspace.state.rows.length).toBeGreaterThan(150);
    workspace.setFilter({ terms: [record.message] });
    await eventually(() => {
      expect(workspace.state.top.kind).toBe('done');
      expect(workspace.state.bottom.kind).toBe('done');
      expect(workspace.state.rows).toHaveLength(2);
    });
    expect(workspace.state.focusedKey).toBe(recordKey(at));
    void workspace.toggleContext(recordKey(at));
    await eventually(() => expect(workspace.state.rows.length).toBeGreaterThan(15));
    const own = workspace.state.rows.flatMap((row) =>
      row.kind === 'record' && row.record.node === record.node ? [row.record.offset] : [],
    );
    expect(own).toEqual(own.toSorted((a, b) => a - b));
  });

  it('finds a text beyond the loaded rows, with its index and the total', async () => {
    const { source } = await startConsoleCluster([{ 'a.log': lines(0, 2999) }]);
    const find = { text: 'LINE 77', isRegex: false, isCaseSensitive: false };
    const { workspace } = openWorkspace({ source: source(family('n1', 'a.log')), find, isLive: false });
    await eventually(() => expect(workspace.state.find.total).toBe(11));
    workspace.findNext('older');
    await eventually(() => expect(workspace.state.find.index).toBe(11));
    const focused = workspace.state.rows.find(({ key }) => key === workspace.state.focusedKey);
    expect(focused).toMatchObject({ record: { message: 'line 779' } });
  });

  it('reports with the message of the API why nothing can be shown', async () => {
    const { source } = await startConsoleCluster([{ 'a.log': lines(0, 3) }]);
    const { workspace } = openWorkspace({ source: source(family('n1', 'b.log')), isLive: false });
    await eventually(() =>
      expect(workspace.state.failure).toMatchObject({ code: 'LOG_FAMILY_NOT_FOUND', status: 404 }),
    );
    workspace.open({ source: source(family('n9', 'a.log')), filter: {}, find: null, start: 'end', isLive: false });
    await eventually(() => expect(workspace.state.failure).toMatchObject({ code: 'MEMBER_NOT_FOUND', status: 404 }));
  });
});
