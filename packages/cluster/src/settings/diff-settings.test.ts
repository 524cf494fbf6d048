import type { SettingJson } from '@porthole/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NODE } from '../state/testing/fake-node.ts';
import { diffSettings, MASK, type MemberSetting, type MemberSettings } from './diff-settings.ts';

type Plain = Readonly<Record<string, SettingJson | MemberSetting>>;

function toMember(id: string, settings: Plain, node = NODE): MemberSettings {
  const memberSetting = Object.entries(settings).map(([key, value]): [string, MemberSetting] => [
    key,
    isMemberSetting(value) ? value : { value, secret: false },
  ]);
  return { id, node, settings: new Map(memberSetting) };
}

function isMemberSetting(value: SettingJson | MemberSetting): value is MemberSetting {
  return typeof value === 'object' && 'secret' in value;
}

const secret = (fingerprint?: string): MemberSetting => ({
  value: MASK,
  secret: true,
  ...(fingerprint !== undefined && { fingerprint }),
});

describe('where members differ', () => {
  it('the majority is marked and who has another value is named', () => {
    const { differences, comparedKeys } = diffSettings([
      toMember('c', { level: 'info', same: 1 }),
      toMember('a', { level: 'debug', same: 1 }),
      toMember('b', { level: 'info', same: 1 }),
    ]);
    expect(comparedKeys).toBe(2);
    expect(differences).toEqual([
      {
        key: 'level',
        secret: false,
        isExpected: false,
        values: [
          { value: 'info', nodes: ['b', 'c'], isMajority: true, isSameMeaning: false },
          { value: 'debug', nodes: ['a'], isMajority: false, isSameMeaning: false },
        ],
      },
    ]);
  });

  it('where votes are equal, that of the smallest id is the majority', () => {
    const [level] = diffSettings([toMember('b', { level: 'info' }), toMember('a', { level: 'debug' })]).differences;
    expect(level?.values.map(({ value, isMajority }) => [value, isMajority])).toEqual([
      ['debug', true],
      ['info', false],
    ]);
  });

  it('a key that is missing somewhere is a difference, and missing can be the majority', () => {
    const [extra] = diffSettings([toMember('a', { extra: 1 }), toMember('b', {}), toMember('c', {})]).differences;
    expect(extra?.values).toEqual([
      { value: null, nodes: ['b', 'c'], isMajority: true, isSameMeaning: false },
      { value: 1, nodes: ['a'], isMajority: false, isSameMeaning: false },
    ]);
  });

  it('spellings of the same meaning vote together and are marked', () => {
    const [ttl] = diffSettings([
      toMember('a', { ttl: '20s' }),
      toMember('b', { ttl: '20s' }),
      toMember('c', { ttl: '10s' }),
      toMember('d', { ttl: '10s' }),
      toMember('e', { ttl: '10000ms' }),
    ]).differences;
    expect(ttl?.values).toEqual([
      { value: '10s', nodes: ['c', 'd'], isMajority: true, isSameMeaning: false },
      { value: '10000ms', nodes: ['e'], isMajority: false, isSameMeaning: true },
      { value: '20s', nodes: ['a', 'b'], isMajority: false, isSameMeaning: false },
    ]);
  });

  it('as versions, 1.10 and 1.1 are two', () => {
    const [version] = diffSettings([
      toMember('a', { 'schema-version': '1.1' }),
      toMember('b', { 'schema-version': '1.10' }),
    ]).differences;
    expect(version?.values.some(({ isSameMeaning }) => isSameMeaning)).toBe(false);
  });

  it('what is expected to differ is apart: by its key, or because it holds the own name or address', () => {
    const other = { ...NODE, hostIp: '10.8.0.22', hostName: 'broker-1' };
    const { differences } = diffSettings([
      toMember('a', { 'http.port': 1, raft: '10.8.0.21:7', join: '10.8.0.21', 'bind-host': true }),
      toMember('b', { 'http.port': 2, raft: '10.8.0.22:7', join: '10.8.0.99', 'bind-host': false }, other),
    ]);
    expect(Object.fromEntries(differences.map(({ key, isExpected }) => [key, isExpected]))).toEqual({
      'http.port': true,
      raft: true,
      join: false,
      'bind-host': false,
    });
  });

  it('a single member has no differences', () => {
    expect(diffSettings([toMember('a', { x: 1 })])).toMatchObject({
      comparedKeys: 0,
      notCompared: [],
      differences: [],
    });
  });
});

describe('secrets', () => {
  it('are compared by fingerprint and never shown', () => {
    const { differences, notCompared } = diffSettings([
      toMember('a', { password: secret('f1'), same: secret('f3') }),
      toMember('b', { password: secret('f2'), same: secret('f3') }),
    ]);
    expect(notCompared).toEqual([]);
    expect(differences.map(({ key }) => key)).toEqual(['password']);
    expect(differences[0]?.values.map(({ value }) => value)).toEqual([
      '****** (fingerprint f1)',
      '****** (fingerprint f2)',
    ]);
  });

  it('are not compared until all have one, which is reported', () => {
    const diff = diffSettings([toMember('a', { password: secret('f1') }), toMember('b', { password: secret() })]);
    const without = { password: ['b'] };
    expect(diff).toEqual({ comparedKeys: 0, notCompared: ['password'], withoutFingerprint: without, differences: [] });
  });

  it('that differ are reported, even if a member has no fingerprint, and is not taken for one of them', () => {
    const diff = diffSettings([
      toMember('a', { password: secret('f1') }),
      toMember('b', { password: secret('f2') }),
      toMember('c', { password: secret('f1') }),
      toMember('d', { password: secret() }),
      toMember('e', { password: secret() }),
      toMember('f', { password: secret() }),
    ]);
    const value = { isMajority: false, isSameMeaning: false };
    expect(diff.differences[0]?.values).toEqual([
      { ...value, value: '****** (fingerprint f1)', nodes: ['a', 'c'], isMajority: true },
      { ...value, value: '****** (fingerprint f2)', nodes: ['b'] },
      { ...value, value: MASK, nodes: ['d', 'e', 'f'], isNotCompared: true },
    ]);
    expect([diff.notCompared, diff.withoutFingerprint]).toEqual([['password'], { password: ['d', 'e', 'f'] }]);
  });

  it('of which only the visible part differs, differ without a fingerprint', () => {
    const url = (host: string) => ({ value: `http://u:******@${host}`, secret: false });
    const { differences, notCompared } = diffSettings([
      toMember('a', { db: url('h1') }),
      toMember('b', { db: url('h2') }),
    ]);
    expect([differences.map(({ key }) => key), notCompared]).toEqual([['db'], ['db']]);
  });

  it('one that is empty, or missing, shows without a fingerprint', () => {
    const { differences } = diffSettings([
      toMember('a', { password: secret() }),
      toMember('b', { password: { value: '', secret: true } }),
      toMember('c', {}),
    ]);
    expect(differences[0]?.values.map(({ value }) => value)).toEqual([MASK, '', null]);
  });

  it('parts of a value that are masked count by fingerprint too', () => {
    const url = (fingerprint: string) => ({ value: 'http://u:******@h', secret: false, fingerprint });
    const { differences } = diffSettings([toMember('a', { db: url('f1') }), toMember('b', { db: url('f2') })]);
    expect(differences).toHaveLength(1);
  });

  it('what one member knows to be a secret is masked for all, even if another sends it in clear', () => {
    const diff = diffSettings([toMember('a', { pin: secret('f1') }), toMember('b', { pin: 'hunter2' })]);
    expect(JSON.stringify(diff)).not.toContain('hunter2');
    expect(diff.notCompared).toEqual(['pin']);
    const liar = { value: 'hunter2', secret: true };
    expect(JSON.stringify(diffSettings([toMember('a', { pin: liar }), toMember('b', {})]))).not.toContain('hunter2');
  });
});

const value: fc.Arbitrary<SettingJson> = fc.oneof(
  fc.constantFrom<SettingJson>(
    '10s',
    '10000ms',
    '1GiB',
    1_073_741_824,
    true,
    'true',
    1,
    '1',
    '1.0',
    '',
    [1],
    ['1'],
    {},
  ),
  fc.string({ maxLength: 3 }),
);
const key = fc.oneof(fc.constantFrom('a.port', 'b.level', '__proto__', 'constructor'), fc.string({ minLength: 1 }));
const memberSetting = fc.record({ value, secret: fc.boolean() }).map((setting): MemberSetting => setting);
const settingsArbitrary = fc.array(fc.tuple(key, memberSetting), { maxLength: 8 }).map((entries) => new Map(entries));
const cluster = fc
  .uniqueArray(fc.tuple(fc.stringMatching(/^[a-f]{1,2}$/), settingsArbitrary), { selector: ([id]) => id, maxLength: 6 })
  .map((all) => all.map(([id, settings]): MemberSettings => ({ id, node: NODE, settings })));

describe('whatever the settings are', () => {
  it('identical ones have no difference', () => {
    fc.assert(
      fc.property(settingsArbitrary, fc.integer({ min: 2, max: 5 }), (settings, count) => {
        const members = Array.from({ length: count }, (_, place) => ({ id: `n${place}`, node: NODE, settings }));
        expect(diffSettings(members).differences).toEqual([]);
      }),
    );
  });

  it('every member is named once in every difference, and every key that differs is reported', () => {
    fc.assert(
      fc.property(cluster, (members) => {
        const { differences, notCompared } = diffSettings(members);
        const ids = members.map(({ id }) => id).sort();
        for (const { values } of differences) {
          expect(values.flatMap(({ nodes }) => nodes).sort()).toEqual(ids);
          expect(values.filter(({ isMajority }) => isMajority)).toHaveLength(1);
          const largest = Math.max(...values.filter((one) => !one.isSameMeaning).map(({ nodes }) => nodes.length));
          const [majority, ...others] = values;
          const votes = others.filter((one) => one.isSameMeaning).flatMap(({ nodes }) => nodes).length;
          expect((majority?.nodes.length ?? 0) + votes).toBeGreaterThanOrEqual(largest);
        }
        const keys = new Set(members.flatMap(({ settings }) => [...settings.keys()]));
        for (const name of keys) {
          const all = members.map(({ settings }) => settings.get(name));
          const isClear = all.every((setting) => !setting?.secret);
          const differs = new Set(all.map((setting) => JSON.stringify(setting?.value))).size > 1;
          if (isClear) expect(differences.some((difference) => difference.key === name)).toBe(differs);
          if (isClear) expect(notCompared).not.toContain(name);
        }
      }),
    );
  });

  it('the order of the members makes no difference', () => {
    fc.assert(
      fc.property(
        cluster.chain((members) =>
          fc.tuple(fc.constant(members), fc.shuffledSubarray(members, { minLength: members.length })),
        ),
        ([members, shuffled]) => {
          expect(diffSettings(shuffled)).toEqual(diffSettings(members));
        },
      ),
    );
  });
});
