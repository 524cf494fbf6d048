import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type NodeState, PortholeError } from '@porthole/contract';
import { eventually, scaled } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MemberDirectory } from '../membership/member-directory.ts';
import type { Membership } from '../membership/membership.ts';
import { ProfileCache, type ProfileCacheDeps } from '../membership/profiles/profile-cache.ts';
import { createProfileStore, type ProfileStore } from '../membership/profiles/profile-store.ts';
import { ProfileCollector, type ProfileCollectorDeps } from './profile-collector.ts';
import { fakePeers, mask, member, NOW_MS, profile } from './testing/fake-deps.ts';
import { fakeNode, file, hang, NODE } from './testing/fake-node.ts';

const DAY_MS = 24 * 3_600_000;

const nodeNamed = (name: string, given: Partial<NodeState> = {}) =>
  fakeNode({
    config: async () => ({ config: `name = "${name}"\n`, node: NODE }),
    logFiles: async () => [file({ name: `${name}.log` })],
    ...given,
  });

/** Members that can be changed, a clock that can be set, and what was reported. */
class World {
  #states: Record<string, NodeState> = {};
  readonly #listeners = new Set<() => void>();
  nowMs = NOW_MS;
  readonly reported: string[] = [];

  get states(): Record<string, NodeState> {
    return this.#states;
  }

  set states(states: Record<string, NodeState>) {
    this.#states = states;
    for (const listener of this.#listeners) listener();
  }

  async open({ store = null, writeMs, maxTotalBytes, maxAgeMs, ...given }: Given = {}): Promise<Profiles> {
    const nowMs = () => this.nowMs;
    const limits = {
      ...(writeMs && { writeMs }),
      ...(maxTotalBytes && { maxTotalBytes }),
      ...(maxAgeMs && { maxAgeMs }),
    };
    const kept = new ProfileCache({ store, report: (problem) => this.reported.push(problem), nowMs, ...limits });
    await kept.load();
    const peers = {
      all: () => (Object.keys(this.states).length === 0 ? [] : fakePeers({ states: this.states }).all()),
    };
    const directory = new MemberDirectory({ membership: this.#membership(), profiles: kept, nowMs });
    const collector = new ProfileCollector({
      profiles: kept,
      peers,
      clocks: { of: () => undefined },
      mask,
      nowMs,
      ...given,
    });
    onTestFinished(() => collector.close());
    return { kept, directory, collector };
  }

  #membership(): Membership {
    const listeners = this.#listeners;
    const ids = () => Object.keys(this.states).sort();
    return {
      get members() {
        return ids().map((id) => member(id));
      },
      state: { kind: 'etcd', state: 'ok', detail: null, asOfMs: 0 },
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      start: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
  }
}

type Given = Partial<Omit<ProfileCollectorDeps, 'profiles'>> & Partial<ProfileCacheDeps>;

interface Profiles {
  kept: ProfileCache;
  directory: MemberDirectory;
  collector: ProfileCollector;
}

const memberIds = ({ directory }: Profiles) => directory.departed().map(({ member: { id } }) => id);

describe('what a member has sent', () => {
  it('is known after it fell silent, with its time', async () => {
    const world = new World();
    world.states = { a: nodeNamed('a') };
    const found = await world.open({ timeoutMs: 20 });
    await found.collector.collectAll();
    world.states = { a: fakeNode({ config: hang }) };
    world.nowMs += 60_000;
    await found.collector.collectAll();
    expect(found.kept.get('a')).toMatchObject({
      asOfMs: NOW_MS,
      config: { config: 'name = "a"\n' },
      files: [{ name: 'a.log' }],
    });
    expect(found.directory.departed()).toEqual([]);
    world.states = {};
    expect(memberIds(found)).toEqual(['a']);
    world.states = { a: nodeNamed('a') };
    expect(memberIds(found)).toEqual([]);
  });

  it('stays as it was if the member sends only the rest again', async () => {
    const world = new World();
    world.states = { a: nodeNamed('a') };
    const found = await world.open();
    await found.collector.collectAll();
    const failing = () => Promise.reject(new PortholeError('CONFIG_UNAVAILABLE', 'no'));
    world.states = { a: nodeNamed('a', { config: failing, logFiles: async () => [file({ name: 'later.log' })] }) };
    await found.collector.collectAll();
    expect(found.kept.get('a')).toMatchObject({
      config: { config: 'name = "a"\n' },
      files: [{ name: 'later.log' }],
    });
  });

  it('is stored without the part that is missing', async () => {
    const world = new World();
    world.states = { a: nodeNamed('a', { logFiles: hang }), b: nodeNamed('b', { config: hang }) };
    const found = await world.open({ timeoutMs: scaled(500) });
    await found.collector.collectAll();
    expect(found.kept.get('a')).toMatchObject({ config: { config: 'name = "a"\n' }, files: null });
    expect(found.kept.get('b')).toMatchObject({
      config: null,
      files: [{ name: 'b.log' }],
    });
  });

  it('in clear is stored only masked, and not at all if it cannot be masked', async () => {
    const world = new World();
    const config = (text: string) => fakeNode({ config: async () => ({ config: text, node: NODE }) });
    world.states = { a: config('the-secret = "hunter2"\n'), b: config('not toml: hunter2') };
    const dir = tempDir();
    const found = await world.open({ store: createProfileStore(dir) });
    await found.collector.collectAll();
    expect(found.kept.get('a')?.config?.config).toBe('the-secret = "******"\n');
    expect(found.kept.get('b')).toMatchObject({ config: null, files: null });
    expect(readdirSync(dir)).toHaveLength(2);
  });

  it('is bounded, whatever the member sends', async () => {
    const world = new World();
    const many = Array.from({ length: 5000 }, (_, place) => file({ name: `${place}.log`, modifiedMs: place }));
    world.states = {
      endless: nodeNamed('a', { logFiles: async () => many }),
      huge: nodeNamed('b', { config: async () => ({ config: `x = "${'x'.repeat(5000)}"`, node: NODE }) }),
      garbage: nodeNamed('c', { logFiles: async () => [{ name: 1 }, file({ name: 'fine.log' })] as never }),
    };
    const found = await world.open({ maxConfigBytes: 1000, maxFileBytes: 5000 });
    await found.collector.collectAll();
    const { files } = found.kept.get('endless') ?? {};
    expect(JSON.stringify(files).length).toBeLessThan(6000);
    expect(files?.at(-1)?.name).toBe('4999.log');
    expect(found.kept.get('huge')).toMatchObject({ config: null, files: [{ name: 'b.log' }] });
    expect(found.kept.get('garbage')?.files).toMatchObject([{ name: 'fine.log' }]);
  });

  it('shares the space with the others that are there', async () => {
    const world = new World();
    const long = async () => ({ config: `x = "${'x'.repeat(9000)}"`, node: NODE });
    const ids = Array.from({ length: 8 }, (_, place) => `n${place}`);
    world.states = Object.fromEntries(ids.map((id) => [id, nodeNamed(id, { config: long })]));
    const found = await world.open({ maxTotalBytes: 100_000 });
    await found.collector.collectAll();
    expect(ids.map((id) => found.kept.get(id)?.config)).toEqual(ids.map(() => null));
    const roomy = await world.open({ maxTotalBytes: 200_000 });
    await roomy.collector.collectAll();
    expect(ids.filter((id) => roomy.kept.get(id)?.config)).toEqual(ids);
  });
});

describe('departed members', () => {
  it('are known to the next run of this node', async () => {
    const store = createProfileStore(tempDir());
    const world = new World();
    world.states = { a: nodeNamed('a'), b: nodeNamed('b') };
    const before = await world.open({ store });
    await before.collector.collectAll();
    await before.collector.close();
    world.states = { b: nodeNamed('b') };
    const after = await world.open({ store });
    expect(memberIds(after)).toEqual(['a']);
    expect(after.kept.get('a')).toMatchObject({
      ...before.kept.get('a'),
      departed: { state: 'failed', sinceMs: NOW_MS },
    });
    expect(after.kept.get('b')).toBeDefined();
    expect(world.reported).toEqual([]);
  });

  it('age out, on disk too', async () => {
    const dir = tempDir();
    const world = new World();
    world.states = { a: nodeNamed('a'), z: nodeNamed('z') };
    const found = await world.open({ store: createProfileStore(dir), maxAgeMs: DAY_MS });
    await found.collector.collectAll();
    world.states = { z: nodeNamed('z') };
    world.nowMs += DAY_MS;
    expect(memberIds(found)).toEqual(['a']);
    world.nowMs += 1;
    expect(memberIds(found)).toEqual([]);
    await found.collector.collectAll();
    expect(found.kept.get('a')).toBeUndefined();
    expect(readdirSync(dir)).toHaveLength(1);
  });

  it('are forgotten before current ones when there is too much, the longest departed first', async () => {
    const dir = tempDir();
    const store = createProfileStore(dir);
    const long = { config: `x = "${'x'.repeat(4000)}"`, node: NODE };
    for (const [age, id] of ['c', 'a', 'b', 'd', 'here'].entries())
      await store.save(profile(id, { asOfMs: NOW_MS - (10 - age) * 1000, config: long }));
    const world = new World();
    world.states = { here: fakeNode() };
    const found = await world.open({ store: createProfileStore(dir), maxTotalBytes: 24_000 });
    expect(memberIds(found)).toEqual(['a', 'b', 'c', 'd']);
    world.states = { here: fakeNode(), more: nodeNamed('more', { config: async () => long }) };
    await found.collector.collectAll();
    expect(memberIds(found)).toEqual(['a', 'b', 'd']);
    expect(found.kept.get('here')).toBeDefined();
    expect(readdirSync(dir)).toHaveLength(5);
  });

  it('from a future that a clock was set back from are as old as now', async () => {
    const store = createProfileStore(tempDir());
    await store.save(profile('a', { asOfMs: NOW_MS + 1000 * DAY_MS }));
    expect((await new World().open({ store })).kept.get('a')?.asOfMs).toBe(NOW_MS);
  });
});

describe('a disk', () => {
  it('that cannot be written stays in memory, which is reported once', async () => {
    const file = join(tempDir(), 'file');
    writeFileSync(file, '');
    const world = new World();
    world.states = { a: nodeNamed('a'), b: nodeNamed('b') };
    const found = await world.open({ store: createProfileStore(join(file, 'words')) });
    await found.collector.collectAll();
    await found.collector.collectAll();
    expect(found.kept.get('b')).toBeDefined();
    expect(found.kept.problem).toContain('in memory only: ENOTDIR');
    expect(world.reported).toHaveLength(1);
  });

  it('that was full is written again when there is room', async () => {
    const saved: string[] = [];
    let isFull = true;
    const store: ProfileStore = {
      load: async () => ({ profiles: [], skipped: ['a: invalid content'] }),
      async save({ member }) {
        if (isFull) throw new Error('ENOSPC: no space left on device');
        saved.push(member.id);
      },
      remove: async () => {},
    };
    const world = new World();
    world.states = { a: nodeNamed('a') };
    const found = await world.open({ store });
    await found.collector.collectAll();
    expect(found.kept.problem).toContain('ENOSPC');
    isFull = false;
    await found.collector.close();
    expect(saved).toEqual(['a']);
    expect(found.kept.problem).toBeNull();
    expect(world.reported).toEqual([
      'cannot read what is known of a member: a: invalid content',
      'cannot store what is known of members, keeping it in memory only: ENOSPC: no space left on device',
    ]);
  });

  it('is not written with every word, but at once when a member falls silent', async () => {
    const saved: number[] = [];
    const store: ProfileStore = {
      load: async () => ({ profiles: [], skipped: [] }),
      save: async ({ asOfMs }) => void saved.push(asOfMs - NOW_MS),
      remove: async () => {},
    };
    const world = new World();
    world.states = { a: nodeNamed('a') };
    const found = await world.open({ store, writeMs: 100_000 });
    for (const atMs of [0, 30_000, 60_000, 100_000, 130_000]) {
      world.nowMs = NOW_MS + atMs;
      await found.collector.collectAll();
    }
    expect(saved).toEqual([0, 100_000]);
    world.states = { a: fakeNode({ config: () => Promise.reject(new Error('gone')) }) };
    await found.collector.collectAll();
    expect(saved).toEqual([0, 100_000, 130_000]);
  });
});

it('members are listened to one after the other, this node not, until it is closed', async () => {
  const heard: string[] = [];
  let atOnce = 0;
  const listening = (id: string) =>
    nodeNamed(id, {
      async config() {
        expect(++atOnce).toBe(1);
        heard.push(id);
        await Promise.resolve();
        atOnce--;
        return { config: '', node: NODE };
      },
    });
  const all = fakePeers({ states: { a: listening('a'), b: listening('b'), self: listening('self') } }).all();
  const peers = all.map((peer) => ({ ...peer, member: { ...peer.member, isSelf: peer.member.id === 'self' } }));
  const world = new World();
  const found = await world.open({ peers: { all: () => peers }, listenMs: 2 });
  found.collector.start();
  await eventually(() => expect(heard.length).toBeGreaterThan(5));
  await found.collector.close();
  await found.collector.close();
  expect(heard.slice(0, 4)).toEqual(['a', 'b', 'a', 'b']);
});
