import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NodeState, PortholeError } from '@porthole/contract';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../logs/src/testing/eventually.ts';
import { MemberDirectory } from '../membership/member-directory.ts';
import type { Membership } from '../membership/membership.ts';
import { KeptWords, type KeptWordsParts } from './kept-words.ts';
import { LastWords, type LastWordsParts } from './last-words.ts';
import { fakeNode, hang, NODE, record, searchOf } from './testing/fake-node.ts';
import { mask, member, NOW_MS, peersOf, words } from './testing/fake-parts.ts';
import { createWordsStore, type WordsStore } from './words-store.ts';

const DAY_MS = 24 * 3_600_000;

const telling = (name: string, given: Partial<NodeState> = {}) =>
  fakeNode({
    config: async () => ({ config: `name = "${name}"\n`, node: NODE }),
    searchLogs: searchOf([record(`${name} says`, { timeMs: 5000 }), record('before')]),
    ...given,
  });

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-words-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Members that can be changed, a clock that can be set, and what was told. */
class World {
  #states: Record<string, NodeState> = {};
  readonly #listeners = new Set<() => void>();
  nowMs = NOW_MS;
  readonly told: string[] = [];

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
    const kept = new KeptWords({ store, tell: (problem) => this.told.push(problem), nowMs, ...limits });
    await kept.load();
    const peers = { all: () => (Object.keys(this.states).length === 0 ? [] : peersOf({ states: this.states }).all()) };
    const directory = new MemberDirectory({ membership: this.#membership(), kept, nowMs });
    const lastWords = new LastWords({ kept, peers, clocks: { of: () => undefined }, mask, nowMs, ...given });
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

type Given = Partial<Omit<LastWordsParts, 'kept'>> & Partial<KeptWordsParts>;

interface Snapshots {
  kept: KeptWords;
  directory: MemberDirectory;
  lastWords: LastWords;
}

const idsOf = ({ directory }: Snapshots) => directory.departed().map(({ member: { id } }) => id);

describe('what a member told', () => {
  it('is known after it fell silent, with its time', async () => {
    const world = new World();
    world.states = { a: telling('a') };
    const snapshots = await world.open({ timeoutMs: 20 });
    await snapshots.lastWords.listen();
    world.states = { a: fakeNode({ config: hang }) };
    world.nowMs += 60_000;
    await snapshots.lastWords.listen();
    expect(snapshots.kept.of('a')).toMatchObject({
      asOfMs: NOW_MS,
      config: { config: 'name = "a"\n' },
      records: [{ message: 'a says' }, { message: 'before' }],
    });
    expect(snapshots.directory.departed()).toEqual([]);
    world.states = {};
    expect(idsOf(snapshots)).toEqual(['a']);
    world.states = { a: telling('a') };
    expect(idsOf(snapshots)).toEqual([]);
  });

  it('stays as it was where it tells only the rest anew', async () => {
    const world = new World();
    world.states = { a: telling('a') };
    const snapshots = await world.open();
    await snapshots.lastWords.listen();
    const failing = () => Promise.reject(new PortholeError('CONFIG_UNAVAILABLE', 'no'));
    world.states = { a: telling('a', { config: failing, searchLogs: searchOf([record('later')]) }) };
    await snapshots.lastWords.listen();
    expect(snapshots.kept.of('a')).toMatchObject({
      config: { config: 'name = "a"\n' },
      records: [{ message: 'later' }],
    });
  });

  it('is kept without the part that does not come', async () => {
    const world = new World();
    const silent: NodeState['searchLogs'] = async function* silent() {
      yield [];
      await hang();
    };
    world.states = { a: telling('a', { searchLogs: silent }), b: telling('b', { config: hang }) };
    const snapshots = await world.open({ timeoutMs: 500 });
    await snapshots.lastWords.listen();
    expect(snapshots.kept.of('a')).toMatchObject({ config: { config: 'name = "a"\n' }, records: [] });
    expect(snapshots.kept.of('b')).toMatchObject({
      config: null,
      records: [{ message: 'b says' }, { message: 'before' }],
    });
  });

  it('in clear is kept only masked, and not at all where it cannot be', async () => {
    const world = new World();
    const config = (text: string) => fakeNode({ config: async () => ({ config: text, node: NODE }) });
    world.states = { a: config('the-secret = "hunter2"\n'), b: config('not toml: hunter2') };
    const dir = tempDir();
    const snapshots = await world.open({ store: createWordsStore(dir) });
    await snapshots.lastWords.listen();
    expect(snapshots.kept.of('a')?.config?.config).toBe('the-secret = "******"\n');
    expect(snapshots.kept.of('b')).toMatchObject({ config: null, records: [] });
    expect(readdirSync(dir)).toHaveLength(2);
  });

  it('is bounded, whatever it tells', async () => {
    const world = new World();
    const endless: NodeState['searchLogs'] = async function* endless() {
      for (;;) yield Array.from({ length: 50 }, (_, place) => record(`${place}`.padEnd(100, 'x')));
    };
    world.states = {
      endless: telling('a', { searchLogs: endless }),
      huge: telling('b', {
        config: async () => ({ config: `x = "${'x'.repeat(5000)}"`, node: NODE }),
        searchLogs: searchOf([record('x'.repeat(10_000)), record('small')]),
      }),
      garbage: telling('c', {
        async *searchLogs() {
          yield [null, 7, { type: 'record' }, record('fine')] as never;
        },
      }),
    };
    const snapshots = await world.open({ maxConfigBytes: 1000, maxRecordBytes: 5000 });
    await snapshots.lastWords.listen();
    expect(JSON.stringify(snapshots.kept.of('endless')?.records).length).toBeLessThan(6000);
    expect(snapshots.kept.of('endless')?.records.length).toBeGreaterThan(10);
    expect(snapshots.kept.of('huge')).toMatchObject({ config: null, records: [] });
    expect(snapshots.kept.of('garbage')?.records).toEqual([record('fine')]);
  });

  it('shares the space with the others that are there', async () => {
    const world = new World();
    const long = searchOf(Array.from({ length: 500 }, () => record('x'.repeat(100))));
    const ids = Array.from({ length: 8 }, (_, place) => `n${place}`);
    world.states = Object.fromEntries(ids.map((id) => [id, telling(id, { searchLogs: long })]));
    const snapshots = await world.open({ maxTotalBytes: 100_000 });
    await snapshots.lastWords.listen();
    const sizes = ids.map((id) => JSON.stringify(snapshots.kept.of(id)).length);
    expect(Math.min(...sizes)).toBeGreaterThan(1000);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(100_000);
  });
});

describe('those that are gone', () => {
  it('are known to the next run of this node', async () => {
    const store = createWordsStore(tempDir());
    const world = new World();
    world.states = { a: telling('a'), b: telling('b') };
    const before = await world.open({ store });
    await before.lastWords.listen();
    await before.lastWords.close();
    world.states = { b: telling('b') };
    const after = await world.open({ store });
    expect(idsOf(after)).toEqual(['a']);
    expect(after.kept.of('a')).toMatchObject({
      ...before.kept.of('a'),
      departed: { state: 'failed', sinceMs: NOW_MS },
    });
    expect(after.kept.of('b')).toBeDefined();
    expect(world.told).toEqual([]);
  });

  it('age out, on disk too', async () => {
    const dir = tempDir();
    const world = new World();
    world.states = { a: telling('a'), z: telling('z') };
    const snapshots = await world.open({ store: createWordsStore(dir), maxAgeMs: DAY_MS });
    await snapshots.lastWords.listen();
    world.states = { z: telling('z') };
    world.nowMs += DAY_MS;
    expect(idsOf(snapshots)).toEqual(['a']);
    world.nowMs += 1;
    expect(idsOf(snapshots)).toEqual([]);
    await snapshots.lastWords.listen();
    expect(snapshots.kept.of('a')).toBeUndefined();
    expect(readdirSync(dir)).toHaveLength(1);
  });

  it('are forgotten before those that are there when there is too much, the longest gone first', async () => {
    const dir = tempDir();
    const store = createWordsStore(dir);
    const long = [record('x'.repeat(4000))];
    for (const [age, id] of ['c', 'a', 'b', 'd', 'here'].entries())
      await store.save(words(id, { asOfMs: NOW_MS - (10 - age) * 1000, records: long }));
    const world = new World();
    world.states = { here: fakeNode() };
    const snapshots = await world.open({ store: createWordsStore(dir), maxTotalBytes: 45_000 });
    expect(idsOf(snapshots)).toEqual(['a', 'b', 'c', 'd']);
    world.states = { here: fakeNode(), more: telling('more', { searchLogs: searchOf(long) }) };
    await snapshots.lastWords.listen();
    expect(idsOf(snapshots)).toEqual(['a', 'b', 'd']);
    expect(snapshots.kept.of('here')).toBeDefined();
    expect(readdirSync(dir)).toHaveLength(5);
  });

  it('from a future that a clock was set back from are as old as now', async () => {
    const store = createWordsStore(tempDir());
    await store.save(words('a', { asOfMs: NOW_MS + 1000 * DAY_MS }));
    expect((await new World().open({ store })).kept.of('a')?.asOfMs).toBe(NOW_MS);
  });
});

describe('a disk', () => {
  it('that cannot be written keeps nothing from being known, and it is told once', async () => {
    const file = join(tempDir(), 'file');
    writeFileSync(file, '');
    const world = new World();
    world.states = { a: telling('a'), b: telling('b') };
    const snapshots = await world.open({ store: createWordsStore(join(file, 'words')) });
    await snapshots.lastWords.listen();
    await snapshots.lastWords.listen();
    expect(snapshots.kept.of('b')).toBeDefined();
    expect(snapshots.kept.problem).toContain('in memory only: ENOTDIR');
    expect(world.told).toHaveLength(1);
  });

  it('that was full is written again when there is room', async () => {
    const saved: string[] = [];
    let isFull = true;
    const store: WordsStore = {
      load: async () => ({ words: [], skipped: ['words-1.json: not what was written'] }),
      async save({ member }) {
        if (isFull) throw new Error('ENOSPC: no space left on device');
        saved.push(member.id);
      },
      remove: async () => {},
    };
    const world = new World();
    world.states = { a: telling('a') };
    const snapshots = await world.open({ store });
    await snapshots.lastWords.listen();
    expect(snapshots.kept.problem).toContain('ENOSPC');
    isFull = false;
    await snapshots.lastWords.close();
    expect(saved).toEqual(['a']);
    expect(snapshots.kept.problem).toBeNull();
    expect(world.told).toEqual([
      'last words were not read: words-1.json: not what was written',
      'last words are kept in memory only: ENOSPC: no space left on device',
    ]);
  });

  it('is not written with every word, but at once when a member falls silent', async () => {
    const saved: number[] = [];
    const store: WordsStore = {
      load: async () => ({ words: [], skipped: [] }),
      save: async ({ asOfMs }) => void saved.push(asOfMs - NOW_MS),
      remove: async () => {},
    };
    const world = new World();
    world.states = { a: telling('a') };
    const snapshots = await world.open({ store, writeMs: 100_000 });
    for (const atMs of [0, 30_000, 60_000, 100_000, 130_000]) {
      world.nowMs = NOW_MS + atMs;
      await snapshots.lastWords.listen();
    }
    expect(saved).toEqual([0, 100_000]);
    world.states = { a: fakeNode({ config: () => Promise.reject(new Error('gone')) }) };
    await snapshots.lastWords.listen();
    expect(saved).toEqual([0, 100_000, 130_000]);
  });
});

it('members are listened to one after the other, this node not, until it is closed', async () => {
  const heard: string[] = [];
  let atOnce = 0;
  const listening = (id: string) =>
    telling(id, {
      async config() {
        expect(++atOnce).toBe(1);
        heard.push(id);
        await Promise.resolve();
        atOnce--;
        return { config: '', node: NODE };
      },
    });
  const all = peersOf({ states: { a: listening('a'), b: listening('b'), self: listening('self') } }).all();
  const peers = all.map((peer) => ({ ...peer, member: { ...peer.member, isSelf: peer.member.id === 'self' } }));
  const world = new World();
  const snapshots = await world.open({ peers: { all: () => peers }, listenMs: 2 });
  snapshots.lastWords.start();
  await eventually(() => expect(heard.length).toBeGreaterThan(5));
  await snapshots.lastWords.close();
  await snapshots.lastWords.close();
  expect(heard.slice(0, 4)).toEqual(['a', 'b', 'a', 'b']);
});
