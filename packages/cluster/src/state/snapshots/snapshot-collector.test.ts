import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type NodeState, PortholeError } from '@porthole/contract';
import { eventually, scaled, tempDir } from '@porthole/logs/testing';
import { batchOf, EMPTY_BATCH } from '@porthole/records';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MemberDirectory } from '../../membership/member-directory.ts';
import type { Membership } from '../../membership/membership.ts';
import { SnapshotCache, type SnapshotCacheDeps } from '../../membership/snapshots/snapshot-cache.ts';
import { createSnapshotStore, type SnapshotStore } from '../../membership/snapshots/snapshot-store.ts';
import { fakePeers, mask, member, NOW_MS, snapshot } from '../testing/fake-deps.ts';
import { fakeNode, fakeSearch, hang, NODE, record } from '../testing/fake-node.ts';
import { SnapshotCollector, type SnapshotCollectorDeps } from './snapshot-collector.ts';

const DAY_MS = 24 * 3_600_000;

const nodeNamed = (name: string, given: Partial<NodeState> = {}) =>
  fakeNode({
    config: async () => ({ config: `name = "${name}"\n`, node: NODE }),
    search: fakeSearch([record(`${name} says`, { timeMs: 5000 }), record('before')]),
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

  async open({ store = null, writeMs, maxTotalBytes, maxAgeMs, ...given }: Given = {}): Promise<Snapshots> {
    const nowMs = () => this.nowMs;
    const limits = {
      ...(writeMs && { writeMs }),
      ...(maxTotalBytes && { maxTotalBytes }),
      ...(maxAgeMs && { maxAgeMs }),
    };
    const kept = new SnapshotCache({ store, report: (problem) => this.reported.push(problem), nowMs, ...limits });
    await kept.load();
    const peers = {
      all: () => (Object.keys(this.states).length === 0 ? [] : fakePeers({ states: this.states }).all()),
    };
    const directory = new MemberDirectory({ membership: this.#membership(), snapshots: kept, nowMs });
    const lastWords = new SnapshotCollector({
      snapshots: kept,
      peers,
      clocks: { of: () => undefined },
      mask,
      nowMs,
      ...given,
    });
    onTestFinished(() => lastWords.close());
    return { kept, directory, lastWords };
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

type Given = Partial<Omit<SnapshotCollectorDeps, 'snapshots'>> & Partial<SnapshotCacheDeps>;

interface Snapshots {
  kept: SnapshotCache;
  directory: MemberDirectory;
  lastWords: SnapshotCollector;
}

const memberIds = ({ directory }: Snapshots) => directory.departed().map(({ member: { id } }) => id);

describe('what a member has sent', () => {
  it('is known after it fell silent, with its time', async () => {
    const world = new World();
    world.states = { a: nodeNamed('a') };
    const snapshots = await world.open({ timeoutMs: 20 });
    await snapshots.lastWords.collectAll();
    world.states = { a: fakeNode({ config: hang }) };
    world.nowMs += 60_000;
    await snapshots.lastWords.collectAll();
    expect(snapshots.kept.get('a')).toMatchObject({
      asOfMs: NOW_MS,
      config: { config: 'name = "a"\n' },
      records: [{ message: 'a says' }, { message: 'before' }],
    });
    expect(snapshots.directory.departed()).toEqual([]);
    world.states = {};
    expect(memberIds(snapshots)).toEqual(['a']);
    world.states = { a: nodeNamed('a') };
    expect(memberIds(snapshots)).toEqual([]);
  });

  it('stays as it was if the member sends only the rest again', async () => {
    const world = new World();
    world.states = { a: nodeNamed('a') };
    const snapshots = await world.open();
    await snapshots.lastWords.collectAll();
    const failing = () => Promise.reject(new PortholeError('CONFIG_UNAVAILABLE', 'no'));
    world.states = { a: nodeNamed('a', { config: failing, search: fakeSearch([record('later')]) }) };
    await snapshots.lastWords.collectAll();
    expect(snapshots.kept.get('a')).toMatchObject({
      config: { config: 'name = "a"\n' },
      records: [{ message: 'later' }],
    });
  });

  it('is stored without the part that is missing', async () => {
    const world = new World();
    const silent: NodeState['search'] = async function* silent() {
      yield EMPTY_BATCH;
      await hang();
    };
    world.states = { a: nodeNamed('a', { search: silent }), b: nodeNamed('b', { config: hang }) };
    const snapshots = await world.open({ timeoutMs: scaled(500) });
    await snapshots.lastWords.collectAll();
    expect(snapshots.kept.get('a')).toMatchObject({ config: { config: 'name = "a"\n' }, records: [] });
    expect(snapshots.kept.get('b')).toMatchObject({
      config: null,
      records: [{ message: 'b says' }, { message: 'before' }],
    });
  });

  it('in clear is stored only masked, and not at all if it cannot be masked', async () => {
    const world = new World();
    const config = (text: string) => fakeNode({ config: async () => ({ config: text, node: NODE }) });
    world.states = { a: config('the-secret = "hunter2"\n'), b: config('not toml: hunter2') };
    const dir = tempDir();
    const snapshots = await world.open({ store: createSnapshotStore(dir) });
    await snapshots.lastWords.collectAll();
    expect(snapshots.kept.get('a')?.config?.config).toBe('the-secret = "******"\n');
    expect(snapshots.kept.get('b')).toMatchObject({ config: null, records: [] });
    expect(readdirSync(dir)).toHaveLength(2);
  });

  it('is bounded, whatever the member sends', async () => {
    const world = new World();
    const endless: NodeState['search'] = async function* endless() {
      for (;;) yield batchOf(Array.from({ length: 50 }, (_, place) => record(`${place}`.padEnd(100, 'x'))));
    };
    world.states = {
      endless: nodeNamed('a', { search: endless }),
      huge: nodeNamed('b', {
        config: async () => ({ config: `x = "${'x'.repeat(5000)}"`, node: NODE }),
        search: fakeSearch([record('x'.repeat(10_000)), record('small')]),
      }),
      garbage: nodeNamed('c', {
        async *search() {
          yield batchOf([{ type: 'record' }, record('fine')] as never);
        },
      }),
    };
    const snapshots = await world.open({ maxConfigBytes: 1000, maxRecordBytes: 5000 });
    await snapshots.lastWords.collectAll();
    expect(JSON.stringify(snapshots.kept.get('endless')?.records).length).toBeLessThan(6000);
    expect(snapshots.kept.get('endless')?.records.length).toBeGreaterThan(10);
    expect(snapshots.kept.get('huge')).toMatchObject({ config: null, records: [] });
    expect(snapshots.kept.get('garbage')?.records).toEqual([record('fine')]);
  });

  it('shares the space with the others that are there', async () => {
    const world = new World();
    const long = fakeSearch(Array.from({ length: 500 }, () => record('x'.repeat(100))));
    const ids = Array.from({ length: 8 }, (_, place) => `n${place}`);
    world.states = Object.fromEntries(ids.map((id) => [id, nodeNamed(id, { search: long })]));
    const snapshots = await world.open({ maxTotalBytes: 100_000 });
    await snapshots.lastWords.collectAll();
    const sizes = ids.map((id) => JSON.stringify(snapshots.kept.get(id)).length);
    expect(Math.min(...sizes)).toBeGreaterThan(1000);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(100_000);
  });
});

describe('departed members', () => {
  it('are known to the next run of this node', async () => {
    const store = createSnapshotStore(tempDir());
    const world = new World();
    world.states = { a: nodeNamed('a'), b: nodeNamed('b') };
    const before = await world.open({ store });
    await before.lastWords.collectAll();
    await before.lastWords.close();
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
    const snapshots = await world.open({ store: createSnapshotStore(dir), maxAgeMs: DAY_MS });
    await snapshots.lastWords.collectAll();
    world.states = { z: nodeNamed('z') };
    world.nowMs += DAY_MS;
    expect(memberIds(snapshots)).toEqual(['a']);
    world.nowMs += 1;
    expect(memberIds(snapshots)).toEqual([]);
    await snapshots.lastWords.collectAll();
    expect(snapshots.kept.get('a')).toBeUndefined();
    expect(readdirSync(dir)).toHaveLength(1);
  });

  it('are forgotten before current ones when there is too much, the longest departed first', async () => {
    const dir = tempDir();
    const store = createSnapshotStore(dir);
    const long = [record('x'.repeat(4000))];
    for (const [age, id] of ['c', 'a', 'b', 'd', 'here'].entries())
      await store.save(snapshot(id, { asOfMs: NOW_MS - (10 - age) * 1000, records: long }));
    const world = new World();
    world.states = { here: fakeNode() };
    const snapshots = await world.open({ store: createSnapshotStore(dir), maxTotalBytes: 45_000 });
    expect(memberIds(snapshots)).toEqual(['a', 'b', 'c', 'd']);
    world.states = { here: fakeNode(), more: nodeNamed('more', { search: fakeSearch(long) }) };
    await snapshots.lastWords.collectAll();
    expect(memberIds(snapshots)).toEqual(['a', 'b', 'd']);
    expect(snapshots.kept.get('here')).toBeDefined();
    expect(readdirSync(dir)).toHaveLength(5);
  });

  it('from a future that a clock was set back from are as old as now', async () => {
    const store = createSnapshotStore(tempDir());
    await store.save(snapshot('a', { asOfMs: NOW_MS + 1000 * DAY_MS }));
    expect((await new World().open({ store })).kept.get('a')?.asOfMs).toBe(NOW_MS);
  });
});

describe('a disk', () => {
  it('that cannot be written stays in memory, which is reported once', async () => {
    const file = join(tempDir(), 'file');
    writeFileSync(file, '');
    const world = new World();
    world.states = { a: nodeNamed('a'), b: nodeNamed('b') };
    const snapshots = await world.open({ store: createSnapshotStore(join(file, 'words')) });
    await snapshots.lastWords.collectAll();
    await snapshots.lastWords.collectAll();
    expect(snapshots.kept.get('b')).toBeDefined();
    expect(snapshots.kept.problem).toContain('in memory only: ENOTDIR');
    expect(world.reported).toHaveLength(1);
  });

  it('that was full is written again when there is room', async () => {
    const saved: string[] = [];
    let isFull = true;
    const store: SnapshotStore = {
      load: async () => ({ snapshots: [], skipped: ['words-1.json: invalid content'] }),
      async save({ member }) {
        if (isFull) throw new Error('ENOSPC: no space left on device');
        saved.push(member.id);
      },
      remove: async () => {},
    };
    const world = new World();
    world.states = { a: nodeNamed('a') };
    const snapshots = await world.open({ store });
    await snapshots.lastWords.collectAll();
    expect(snapshots.kept.problem).toContain('ENOSPC');
    isFull = false;
    await snapshots.lastWords.close();
    expect(saved).toEqual(['a']);
    expect(snapshots.kept.problem).toBeNull();
    expect(world.reported).toEqual([
      'cannot read a snapshot: words-1.json: invalid content',
      'cannot store snapshots, keeping them in memory only: ENOSPC: no space left on device',
    ]);
  });

  it('is not written with every word, but at once when a member falls silent', async () => {
    const saved: number[] = [];
    const store: SnapshotStore = {
      load: async () => ({ snapshots: [], skipped: [] }),
      save: async ({ asOfMs }) => void saved.push(asOfMs - NOW_MS),
      remove: async () => {},
    };
    const world = new World();
    world.states = { a: nodeNamed('a') };
    const snapshots = await world.open({ store, writeMs: 100_000 });
    for (const atMs of [0, 30_000, 60_000, 100_000, 130_000]) {
      world.nowMs = NOW_MS + atMs;
      await snapshots.lastWords.collectAll();
    }
    expect(saved).toEqual([0, 100_000]);
    world.states = { a: fakeNode({ config: () => Promise.reject(new Error('gone')) }) };
    await snapshots.lastWords.collectAll();
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
  const snapshots = await world.open({ peers: { all: () => peers }, listenMs: 2 });
  snapshots.lastWords.start();
  await eventually(() => expect(heard.length).toBeGreaterThan(5));
  await snapshots.lastWords.close();
  await snapshots.lastWords.close();
  expect(heard.slice(0, 4)).toEqual(['a', 'b', 'a', 'b']);
});
