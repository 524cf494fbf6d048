import { eventually } from '@porthole/logs/testing';
import { describe, expect, test } from 'vitest';
import type { FollowStatus, Row } from '../../log-view/model/workspace-state.ts';
import type { LogSource, ShownRecord } from '../../log-view/source/log-source.ts';
import { toFilter } from '../../log-view/source/view-source.ts';
import { FIRST_MS } from '../../log-view/testing/fake-source.ts';
import { openTestWorkspace, upTo } from '../../log-view/testing/open-workspace.ts';
import { LogWorkspace } from '../../log-view/workspace/log-workspace.ts';
import { ALL_LOGS, type LogsView } from '../../state/view.ts';
import { applyView, countKey, toFindQuery, toStart, toView } from './use-log-workspace.ts';

const view = (change: Partial<LogsView> = {}): LogsView => ({ ...ALL_LOGS, ...change });

describe('the URL', () => {
  test('the text filters only in "only matches" mode', () => {
    expect(toFilter(view({ text: 'lease' }), 0)).toEqual({});
    expect(toFilter(view({ text: 'lease', isOnlyMatches: true }), 0)).toEqual({ terms: ['lease'] });
    expect(toFilter(view({ text: 'l.*e', isOnlyMatches: true, isRegex: true }), 0)).toEqual({ regex: 'l.*e' });
  });

  test('every other parameter filters', () => {
    const narrow = view({
      range: { kind: 'last', spanMs: 1000 },
      minLevel: 'WARN',
      query: 'shard=13',
      excluded: ['ping'],
      callSite: 'a.go:1',
      component: 'KV',
      isCaseSensitive: true,
    });
    expect(toFilter(narrow, 5000)).toEqual({
      fromMs: 4000,
      minLevel: 'WARN',
      query: 'shard=13',
      excluded: ['ping'],
      caseSensitive: true,
      source: 'a.go:1',
      component: 'KV',
    });
  });

  test('matches are highlighted in both modes', () => {
    expect(toFindQuery(view())).toBeNull();
    expect(toFindQuery(view({ text: 'x', isOnlyMatches: true }))).toMatchObject({ text: 'x' });
  });

  test('starts at the record, otherwise at the time, otherwise at the end', () => {
    const at = { node: 'n', cursor: 'c' };
    expect(toStart(view({ at, timeMs: 5 }))).toEqual({ at });
    expect(toStart(view({ timeMs: 5 }))).toEqual({ timeMs: 5 });
    expect(toStart(view())).toBe('end');
  });

  test('another position needs no new counts, another filter does', () => {
    expect(countKey(view({ timeMs: 5 }))).toBe(countKey(view()));
    expect(countKey(view({ minLevel: 'WARN' }))).not.toBe(countKey(view()));
    expect(countKey(view({ query: 'shard=13' }))).not.toBe(countKey(view()));
  });
});

/** Records calls and returns nothing. */
function silentSource() {
  const requested: string[] = [];
  const source: LogSource = {
    nodes: ['n'],
    page: ({ from }) => {
      requested.push(JSON.stringify(from));
      return new Promise(() => undefined);
    },
    follow: async function* () {},
    histogram: () => new Promise(() => undefined),
    fields: () => new Promise(() => undefined),
    top: () => new Promise(() => undefined),
    digest: () => new Promise(() => undefined),
    extent: () => new Promise(() => undefined),
  };
  return { source, requested };
}

describe('a change of the URL', () => {
  test('the first view opens its position', () => {
    const { source, requested } = silentSource();
    const workspace = new LogWorkspace();
    applyView({ workspace, source, nowMs: 0 }, null, view({ timeMs: 77, isLive: false }));
    expect(requested).toContain('{"timeMs":77}');
    workspace.close();
  });

  test('jumps to another time, and does nothing for the same view', () => {
    const { source, requested } = silentSource();
    const workspace = new LogWorkspace();
    const first = view({ isLive: false });
    applyView({ workspace, source, nowMs: 0 }, null, first);
    const before = requested.length;
    applyView({ workspace, source, nowMs: 0 }, first, { ...first });
    expect(requested).toHaveLength(before);
    applyView({ workspace, source, nowMs: 0 }, first, { ...first, timeMs: 99 });
    expect(requested.at(-1)).toBe('{"timeMs":99}');
    workspace.close();
  });

  test('applies another level', () => {
    const { source } = silentSource();
    const workspace = new LogWorkspace();
    const first = view({ isLive: false });
    applyView({ workspace, source, nowMs: 0 }, null, first);
    applyView({ workspace, source, nowMs: 0 }, first, { ...first, minLevel: 'ERROR' });
    expect(workspace.state.filter).toEqual({ minLevel: 'ERROR' });
    workspace.close();
  });

  test('Back shows the record that was open, even if it is among the current rows', async () => {
    const { workspace, source, draw } = await openTestWorkspace(1000);
    const at = (number: number) => ({ node: 'n1', cursor: `c${number}` });
    const open = view({ isLive: false, at: at(909) });
    applyView({ workspace, source, nowMs: 0 }, view({ isLive: false }), open);
    await draw();
    const narrowed = { ...open, minLevel: 'ERROR' as const, at: at(899) };
    applyView({ workspace, source, nowMs: 0 }, open, narrowed);
    await draw();
    expect(workspace.state.focusedKey).toBe('n1 c899');
    applyView({ workspace, source, nowMs: 0 }, narrowed, open);
    await draw();
    expect(workspace.state).toMatchObject({ focusedKey: 'n1 c909', filter: {} });
  });

  test('choosing a time range with an end stops following', async () => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(1000, { isLive: true });
    const range = { kind: 'fixed', fromMs: FIRST_MS, toMs: FIRST_MS + 5000 } as const;
    applyView({ workspace, source, nowMs: 0 }, view(), view({ range, isLive: false }));
    await draw();
    expect(workspace.state.follow.state).toBe('off');
    expect(source.followers).toBe(0);
    expect(numbers()).toEqual(upTo(0, 9));
    workspace.resume();
    await draw();
    expect(workspace.state.follow.state).toBe('off');
  });

  test('an invalid regex keeps the rows and is reported', async () => {
    const { workspace, source, draw } = await openTestWorkspace(100, { isLive: true });
    const before = view();
    const broken = view({ text: 'a(', isRegex: true, isOnlyMatches: true });
    applyView({ workspace, source, nowMs: 0 }, before, broken);
    await eventually(() => expect(workspace.state.find.message).toMatch(/regex/));
    await draw();
    expect(workspace.state).toMatchObject({ failure: null, filter: {}, follow: { state: 'live' } });
    expect(workspace.state.rows).toHaveLength(100);
    const mended = { ...broken, text: 'record 9.$' };
    applyView({ workspace, source, nowMs: 0 }, broken, mended);
    await eventually(() => expect(workspace.state.filter).toEqual({ regex: 'record 9.$' }));
  });
});

const makeRecord = (index: number, atMs: number | null = index * 1000): ShownRecord => ({
  type: 'record',
  node: 'n',
  file: 'f',
  offset: index,
  bytes: 1,
  cursor: `c${index}`,
  message: '',
  ...(atMs !== null && { atMs }),
});
const records = [0, 1, 2, 3, 4].map((index) => makeRecord(index));
const rows: Row[] = records.map((record) => ({ kind: 'record', key: record.cursor, record }));
const seen = { first: records[1] ?? null, last: records[3] ?? null };
const follow = (state: FollowStatus['state']): FollowStatus => ({
  state,
  newRecords: 0,
  newErrors: 0,
  linesPerSecond: 0,
  lagMs: null,
  reason: null,
});

test('the URL follows while following', () => {
  const next = toView({ ...ALL_LOGS, timeMs: 5 }, { rows, focusedKey: 'c2', follow: follow('live') }, seen);
  expect(next).toMatchObject({ isLive: true, at: null, timeMs: null });
});

test('a visible focused record is in the URL', () => {
  const next = toView(ALL_LOGS, { rows, focusedKey: 'c2', follow: follow('paused') }, seen);
  expect(next).toMatchObject({ isLive: false, at: { node: 'n', cursor: 'c2' }, timeMs: null });
});

test('otherwise the URL has the time of the first row', () => {
  for (const focusedKey of ['c0', 'c4', null])
    expect(toView(ALL_LOGS, { rows, focusedKey, follow: follow('off') }, seen)).toMatchObject({
      at: null,
      timeMs: 1000,
    });
});

test('rows without timestamps are identified by the first record', () => {
  const first = makeRecord(1, null);
  const next = toView(ALL_LOGS, { rows, focusedKey: null, follow: follow('off') }, { first, last: null });
  expect(next).toMatchObject({ at: { node: 'n', cursor: 'c1' }, timeMs: null });
});
