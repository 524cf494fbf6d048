import type { Member, MembershipState } from '@porthole/contract';
import { UNKNOWN_ROLE } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import { member, NOW_MS, profile } from '../state/testing/fake-deps.ts';
import { MemberDirectory } from './member-directory.ts';
import type { Departure, MemberFacts, Membership } from './membership.ts';
import { ProfileCache } from './profiles/profile-cache.ts';

/** A registry that says what the test says. */
class Registry implements Membership {
  members: readonly Member[] = [];
  state: MembershipState = { kind: 'etcd', state: 'ok', detail: null, asOfMs: 0 };
  readonly departures = new Map<string, Departure>();
  readonly learned: [string, MemberFacts][] = [];
  #listener = () => {};

  constructor(...ids: string[]) {
    this.members = [member('self', { isSelf: true }), ...ids.map((id) => member(id))];
  }

  getDeparture = (id: string) => this.departures.get(id);
  learn = (id: string, facts: MemberFacts) => void this.learned.push([id, facts]);
  onChange(listener: () => void): () => void {
    this.#listener = listener;
    return () => {};
  }
  start = () => Promise.resolve();
  close = () => Promise.resolve();

  list(...ids: string[]): void {
    this.members = [member('self', { isSelf: true }), ...ids.map((id) => member(id))];
    this.#listener();
  }

  lose(): void {
    this.state = { ...this.state, state: 'stale' };
    this.#listener();
  }

  find(): void {
    this.state = { ...this.state, state: 'ok' };
    this.#listener();
  }
}

function profileCache(...profiles: Parameters<ProfileCache['put']>[0][]): ProfileCache {
  const cache = new ProfileCache({ store: null, report: () => {}, nowMs: () => NOW_MS });
  for (const profile of profiles) cache.put(profile);
  return cache;
}

function createDirectory(registry: Registry, cache = profileCache()): MemberDirectory {
  return new MemberDirectory({ membership: registry, profiles: cache, nowMs: () => NOW_MS });
}

const memberStates = (directory: MemberDirectory) =>
  directory.departed().map((each) => [each.member.id, each.departed?.state, each.departed?.sinceMs]);

describe('a member that is not listed any more', () => {
  it('has failed, also without a profile of it', () => {
    const registry = new Registry('a', 'b');
    const directory = createDirectory(registry, profileCache(profile('a')));
    registry.list();
    expect(memberStates(directory)).toEqual([
      ['a', 'failed', NOW_MS],
      ['b', 'failed', NOW_MS],
    ]);
    expect(directory.standingOf('b', 'gone')).toEqual({ state: 'failed', sinceMs: NOW_MS });
    expect(directory.members.map(({ id }) => id)).toEqual(['self']);
  });

  it('has left if this run of it announced so', () => {
    const registry = new Registry('a', 'b');
    const directory = createDirectory(registry);
    const { onlineTime } = member('a').node;
    registry.departures.set('a', { onlineTime, leftMs: 5 });
    registry.departures.set('b', { onlineTime: onlineTime - 1, leftMs: 5 });
    registry.list();
    expect(memberStates(directory)).toEqual([
      ['a', 'left', NOW_MS],
      ['b', 'failed', NOW_MS],
    ]);
  });

  it('is a member again once it is listed again, and listed once', () => {
    const registry = new Registry('a');
    const directory = createDirectory(registry);
    registry.list();
    registry.list('a');
    expect(directory.departed()).toEqual([]);
    expect(directory.members.map(({ id }) => id)).toEqual(['self', 'a']);
  });

  it('has departed while this node was down: since it was last seen', () => {
    const directory = createDirectory(new Registry('b'), profileCache(profile('a'), profile('b')));
    expect(memberStates(directory)).toEqual([['a', 'failed', NOW_MS - 60_000]]);
  });

  it('was removed from a static list: it has left', () => {
    const registry = new Registry('b');
    registry.state = { ...registry.state, kind: 'static' };
    expect(memberStates(createDirectory(registry, profileCache(profile('a'))))).toEqual([
      ['a', 'left', NOW_MS - 60_000],
    ]);
  });

  it('is forgotten on demand', () => {
    const registry = new Registry('a');
    const directory = createDirectory(registry);
    registry.list();
    expect([directory.forget('a'), directory.forget('a')]).toEqual([true, false]);
    expect(directory.departed()).toEqual([]);
  });
});

describe('while the registry is away', () => {
  it('since the start, members known from before are queried, and none of them has left', () => {
    const registry = new Registry();
    registry.lose();
    const gone = profile('gone', { departed: { state: 'failed', sinceMs: 5 } });
    const directory = createDirectory(registry, profileCache(profile('a'), gone));
    expect(directory.members.map(({ id }) => id)).toEqual(['a', 'gone', 'self']);
    expect(directory.departed()).toEqual([]);
    expect(directory.standingOf('a', 'ok')).toMatchObject({ state: 'up' });
    expect(directory.standingOf('a', 'refused')).toMatchObject({ state: 'unknown' });
    registry.list('a');
    expect(directory.departed()).toEqual([]);
    registry.find();
    expect(memberStates(directory)).toEqual([['gone', 'failed', 5]]);
  });

  it('later, those listed last are members still; one that does not respond is unknown', () => {
    const registry = new Registry('a');
    const directory = createDirectory(registry);
    registry.lose();
    expect(directory.members.map(({ id }) => id)).toEqual(['self', 'a']);
    expect(directory.standingOf('a', 'timeout')).toMatchObject({ state: 'unknown' });
  });
});

it('a member that stops responding is unreachable since then, not since it is looked at again', () => {
  let nowMs = NOW_MS;
  const directory = new MemberDirectory({
    membership: new Registry('a'),
    profiles: profileCache(),
    nowMs: () => nowMs,
  });
  expect(directory.standingOf('a', 'ok')).toEqual({ state: 'up', sinceMs: NOW_MS });
  nowMs += 1000;
  expect(directory.standingOf('a', 'refused')).toEqual({ state: 'unreachable', sinceMs: NOW_MS + 1000 });
  nowMs += 1000;
  expect(directory.standingOf('a', 'timeout')).toEqual({ state: 'unreachable', sinceMs: NOW_MS + 1000 });
  expect(directory.standingOf('a', 'failed')).toEqual({ state: 'up', sinceMs: NOW_MS + 2000 });
});

describe('the role of a member', () => {
  it('is what it reported to an earlier run, until it reports another', () => {
    const registry = new Registry();
    registry.members = [member('a', { role: UNKNOWN_ROLE }), member('b', { role: UNKNOWN_ROLE })];
    const known = profile('a', { member: member('a', { role: 'storage' }) });
    const directory = createDirectory(registry, profileCache(known));
    expect(registry.learned).toMatchObject([['a', { role: 'storage' }]]);
    expect(directory.strangers).toHaveLength(2);
  });

  it.each([
    [undefined, 'node'],
    ['broker', 'broker'],
    ['no role', undefined],
    [7, undefined],
  ])('said as %j is %j', (said, role) => {
    const registry = new Registry('a');
    createDirectory(registry).learn('a', { role: said, node: member('a').node });
    expect(registry.learned.map(([, facts]) => facts.role)).toEqual(role === undefined ? [] : [role]);
  });

  it('is not taken from a member that reports nonsense', () => {
    const registry = new Registry('a');
    createDirectory(registry).learn('a', { role: 'broker', node: { hostName: 'x'.repeat(1000) } });
    expect(registry.learned).toEqual([]);
  });
});
