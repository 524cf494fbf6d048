import { isDrift, type Member, PortholeError, UNKNOWN_ROLE } from '@porthole/contract';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProfileCache } from '../membership/profiles/profile-cache.ts';
import { configDiff } from './cluster-config.ts';
import { ConfigDrift, type ConfigDriftDeps } from './config-drift.ts';
import { fakeDeps, member, NOW_MS, profile } from './testing/fake-deps.ts';
import { fakeNode, NODE } from './testing/fake-node.ts';

const REFRESH_MS = 30_000;

/** A node named `self` with the profiles of others. */
class World {
  readonly profiles = new ProfileCache({ store: null, report: () => {} });
  readonly members: Member[] = [member('self', { isSelf: true })];
  own: () => Promise<string> = async () => '';
  nowMs = 0;
  discovered = 0;
  /** How often profiles were read to compare them. */
  reads = 0;
  readonly drift = new ConfigDrift({
    profiles: {
      all: () => this.profiles.all(),
      get: (id) => {
        this.reads++;
        return this.profiles.get(id);
      },
    },
    directory: { members: this.members } satisfies ConfigDriftDeps['directory'],
    self: { config: async () => ({ config: await this.own(), node: NODE }) },
    discoverRoles: async () => {
      this.discovered++;
    },
    refreshMs: REFRESH_MS,
    runningMs: () => this.nowMs,
  });

  add(id: string, config: string, given: Partial<Member> = {}): void {
    const { member: _member, ...rest } = profile(id, { config: { config, node: NODE }, asOfMs: NOW_MS });
    this.profiles.put({ member: member(id, given), ...rest });
    const at = this.members.findIndex((each) => each.id === id);
    this.members.splice(at < 0 ? 0 : at, at < 0 ? 0 : 1, member(id, given));
  }

  async count(): Promise<[keys: number, members: number] | null> {
    this.nowMs += REFRESH_MS;
    await this.drift.update();
    const { count } = this.drift;
    return count && [count.keys, count.members];
  }
}

describe('the number of keys that differ', () => {
  it('counts those of members of the same role, this node included, that should not', async () => {
    const world = new World();
    expect(world.drift.count).toBe(null);
    world.own = async () => 'limit = 10\nport = 1\nwait = "10s"\nsecret = "******"\n';
    world.add('a', 'limit = 20\nport = 2\nwait = "10000ms"\nsecret = "******"\nextra = true\n');
    world.add('b', 'other = 1\n', { role: 'broker' });
    expect(await world.count()).toEqual([2, 2]);
    world.add('c', 'other = 2\n', { role: 'broker' });
    expect(await world.count()).toEqual([3, 4]);
  });

  it('compares again only if something has changed, and at most once in a refresh interval', async () => {
    const world = new World();
    world.own = async () => 'a = 1\n';
    world.add('a', 'a = 1\n');
    world.add('b', 'a = 1\n');
    expect(await world.count()).toEqual([0, 3]);
    const { reads } = world;
    world.add('a', 'a = 1\n');
    expect(await world.count()).toEqual([0, 3]);
    expect(world.reads).toBe(reads);
    world.add('a', 'a = 2\n');
    await world.drift.update();
    expect(world.drift.count).toEqual({ keys: 0, members: 3 });
    expect(await world.count()).toEqual([1, 3]);
  });

  it('leaves out what cannot be compared, and says so by the number of members', async () => {
    const world = new World();
    world.own = () => Promise.reject(new PortholeError('CONFIG_UNAVAILABLE', 'no file'));
    world.add('a', 'a = 1\n');
    world.add('b', '= not toml');
    world.add('c', 'a = 2\n', { role: UNKNOWN_ROLE });
    world.profiles.put(profile('d'));
    const [left, failed] = ['left', 'failed'].map((state) => ({ state: state as 'left' | 'failed', sinceMs: NOW_MS }));
    const config = { config: 'a = 3\n', node: NODE };
    world.profiles.put(profile('left', { config, departed: left ?? null }));
    expect(await world.count()).toEqual([0, 0]);
    expect(world.discovered).toBe(1);
    world.profiles.put(profile('failed', { config, departed: failed ?? null }));
    expect(await world.count()).toEqual([1, 2]);
    world.own = async () => `a = 4\nb = "${'x'.repeat(300_000)}"\n`;
    expect(await world.count()).toEqual([1, 2]);
  });

  it('is that of the comparison on request', async () => {
    const value = fc.constantFrom(
      '1',
      '"1"',
      '"10s"',
      '"10000ms"',
      '"node"',
      '"******"',
      'true',
      '[1, 2]',
      '{ a = 1 }',
    );
    const key = fc.constantFrom('limit', 'port', 'wait', 'db-secret', 'version', 'own-name', 'flag');
    const text = fc
      .dictionary(key, value)
      .map((settings) => Object.entries(settings).map(([name, each]) => `${name} = ${each}\n`))
      .map((lines) => lines.join(''));
    const one = fc.record({ text, role: fc.constantFrom('node', 'broker') });
    await fc.assert(
      fc.asyncProperty(text, fc.array(one, { maxLength: 5 }), async (own, others) => {
        const world = new World();
        world.own = async () => own;
        for (const [at, { text: config, role }] of others.entries()) world.add(`m${at}`, config, { role });
        const states = Object.fromEntries(
          [{ text: own, role: 'node' }, ...others].map(({ text: config }, at) => [
            at === 0 ? 'self' : `m${at - 1}`,
            fakeNode({ config: async () => ({ config, node: NODE }) }),
          ]),
        );
        const roles = Object.fromEntries(others.map(({ role }, at) => [`m${at}`, role]));
        const diff = await configDiff({ ...fakeDeps({ states, roles }), mask: (same) => same }, {});
        const expected = diff.roles.flatMap(({ differences }) => differences.filter(isDrift)).length;
        expect((await world.count())?.[0]).toBe(expected);
      }),
      { numRuns: runs(20) },
    );
  });
});
