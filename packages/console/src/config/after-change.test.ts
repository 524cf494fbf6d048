import type { ClusterConfigDiff, ClusterRecord, ConfigValue, SettingJson } from '@porthole/client';
import { describe, expect, it } from 'vitest';
import { afterRows, otherValues } from './after-change.ts';

const record = (node: string, timeMs: number, context: Record<string, unknown>): ClusterRecord => ({
  ...{ type: 'record', node, file: 'events.log', offset: timeMs, bytes: 1, cursor: `${node}${timeMs}`, timeMs },
  ...{ atMs: timeMs, level: 'INFO', message: 'something happened', context },
});

const newError = (node: string, timeMs: number, message: string) =>
  record(node, timeMs, { kind: 'new-pattern', record: { timeMs, message }, pattern: { source: 'a/wal.go:211' } });

const burst = (node: string, timeMs: number) =>
  record(node, timeMs, { kind: 'log-burst', record: { timeMs, message: 'many' }, errors: 9, usualPerMinute: 0 });

const rowsAfter = (records: ClusterRecord[]) =>
  afterRows(records, { id: 'a', version: { fromMs: 100_000, version: 'v2' }, untilMs: 900_000 }).map(
    ({ event, delayMs, isHere }) =>
      `${delayMs / 1000} s ${event.nodes.join('+')} ${event.kind}${isHere ? ' here' : ''}`,
  );

describe('after a change', () => {
  it('the first error of the node leads, then everything is in the order of time', () => {
    expect(
      rowsAfter([
        record('b', 800_000, { kind: 'member-lost', member: 'a', lastSignMs: 700_000 }),
        newError('a', 217_000, 'fsync failed'),
        newError('c', 160_000, 'no leader'),
        newError('b', 150_000, 'no leader'),
      ]),
    ).toEqual(['117 s a new-pattern here', '50 s b+c new-pattern', '600 s a member-lost here']);
  });

  it('the change itself and the start it came with are not shown, nor what was before or much later', () => {
    expect(
      rowsAfter([
        newError('a', 901_000, 'later'),
        record('a', 300_000, { kind: 'config-changed', config: 'v3', keys: ['x'] }),
        record('a', 101_000, { kind: 'started', version: '2' }),
        record('b', 101_000, { kind: 'member-back', member: 'a', isRestarted: true, awayMs: 2000 }),
        record('a', 100_000, { kind: 'config-changed', config: 'v2', keys: ['x'] }),
        newError('a', 99_000, 'before'),
      ]),
    ).toEqual(['200 s a config-changed here']);
  });

  it('a burst is shown unless a new error tells of it', () => {
    expect(rowsAfter([burst('b', 210_000), burst('a', 205_000), newError('a', 200_000, 'fsync failed')])).toEqual([
      '100 s a new-pattern here',
      '110 s b log-burst',
    ]);
  });
});

describe('what other nodes have', () => {
  const value = (setting: SettingJson | null, nodes: string[], more: Partial<ConfigValue> = {}): ConfigValue => ({
    ...{ value: setting, nodes, isMajority: false, isSameMeaning: false },
    ...more,
  });
  const difference = (key: string, values: ConfigValue[]) => ({ key, secret: false, isExpected: false, values });
  const diff: ClusterConfigDiff = {
    roles: [
      {
        ...{ role: 'storage', nodes: ['a', 'b', 'c'], comparedKeys: 9, notCompared: ['token'] },
        differences: [
          difference('dir', [value('/data', ['b', 'c']), value('/mnt', ['a'])]),
          difference('flush', [value(null, ['b']), value(4, ['a', 'c'])]),
          difference('password', [
            value('****** (fingerprint f)', ['a', 'b']),
            value('******', ['c'], { isNotCompared: true }),
          ]),
        ],
      },
      { role: 'broker', nodes: ['x'], comparedKeys: 9, notCompared: [], differences: [] },
    ],
    members: [],
  };
  const texts = (id: string, key: string) =>
    otherValues(diff, id, key).map(({ text, value: shown }) => (shown === null ? text : `${text} ${shown}`));

  it.each([
    ['a', 'dir', ['2 other nodes have /data']],
    ['a', 'flush', ['1 other node has no such key', '1 other node has 4']],
    ['a', 'same', ['2 other nodes have the same value']],
    ['a', 'token', ['2 other nodes have an unknown secret']],
    ['a', 'password', ['1 other node has the same secret', '1 other node has an unknown secret']],
    ['x', 'dir', ['No other broker node to compare with']],
    ['unknown', 'dir', []],
  ])('as %s in %s', (id, key, words) => {
    expect(texts(id, key)).toEqual(words);
  });
});
