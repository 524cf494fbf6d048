import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NodeState } from '@porthole/contract';
import { createZone } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import type { FollowItem, FoundRecord, SearchQuery } from '@porthole/logs/types';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { member, NOW_MS, profile } from '../state/testing/fake-deps.ts';
import { description } from '../state/testing/fake-node.ts';
import { collectResponse } from '../testing/collect-response.ts';
import { endItem } from '../testing/fake-node.ts';
import { LogDirNode, logLines } from '../testing/log-dir-node.ts';
import { recordedText } from './recorded-node.ts';
import { Recorder } from './recorder.ts';
import { Recordings } from './recordings.ts';

/** A real log directory that is followed; its connection can be cut. */
class FollowedNode extends LogDirNode {
  #cuts = new Set<AbortController>();
  isStopping = false;

  constructor() {
    super();
    Object.assign(this, { describe: async () => description({ timeZone: 'UTC' }) });
  }

  /** As the client of a node does: it reports that the connection was lost, and connects again. */
  override async *followLogs(
    ...[query, options]: Parameters<NodeState['followLogs']>
  ): AsyncGenerator<FollowItem[], void, undefined> {
    const cut = new AbortController();
    this.#cuts.add(cut);
    const signal = AbortSignal.any([cut.signal, ...(options?.signal ? [options.signal] : [])]);
    for await (const items of this.logs.follow(query, { signal, positions: true, texts: options?.texts })) {
      if (items.at(-1)?.type === 'end') break;
      yield items;
    }
    const { isStopping } = this;
    yield [{ type: 'reconnecting', reason: 'cut', waitMs: 1, ...(isStopping && { isStopping }) }];
  }

  cut(): void {
    for (const controller of this.#cuts) controller.abort();
    this.#cuts.clear();
  }
}

class World {
  readonly node = new FollowedNode();
  readonly dir = tempDir();
  readonly events: string[] = [];
  readonly reported: string[] = [];
  freeBytes = 1024 ** 3;
  tries = 0;
  isListed = true;
  onListed = () => {};
  untilFree = () => Promise.resolve();
  recordings: Recordings;
  recorder: Recorder;

  constructor() {
    ({ recordings: this.recordings, recorder: this.recorder } = this.#open());
    onTestFinished(() => this.close());
  }

  async close(): Promise<void> {
    await this.recorder.close();
    await this.recordings.close();
  }

  async restart(): Promise<void> {
    await this.close();
    ({ recordings: this.recordings, recorder: this.recorder } = this.#open());
    await this.recordings.load();
    this.recorder.start();
  }

  text(): string {
    return readFileSync(join(this.dir, 'm', 'log', 'app.log-19700101-0000000001'), 'utf8');
  }

  #open() {
    const peer = { member: member('m'), state: this.node, forget: async () => 0, hasFailed: false };
    const peers = { all: () => (this.isListed ? [peer] : []), get: () => peer };
    const clocks = { of: () => ({ offsetMs: 0, uncertaintyMs: 1 }) };
    const recordings = new Recordings({
      ...{ dir: this.dir, limits: { maxBytes: 1_000_000, maxMs: 3_600_000 }, peers, clocks, selfId: 'self' },
      profiles: { get: () => profile('m'), asOfMs: () => NOW_MS, getDeparted: () => null },
      ...{ recorders: { askedFor: () => [] }, zone: createZone('UTC'), timeoutMs: 1000, nowMs: () => Date.now() },
    });
    const recorder = new Recorder({
      ...{ recordings, peers, clocks, recorders: { records: () => true, askedFor: () => [] } },
      directory: {
        onChange: (listener: () => void) => {
          this.onListed = listener;
          return () => {};
        },
      },
      events: { write: ({ kind, message }) => void this.events.push(`${kind}: ${message}`) },
      report: (problem) => void this.reported.push(problem),
      nowMs: () => Date.now(),
      freeBytes: async () => {
        this.tries++;
        return this.freeBytes;
      },
      stoppedMs: 10,
      untilFree: () => this.untilFree(),
    });
    return { recordings, recorder };
  }
}

const at = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => Date.now() - 5000 + from + index);

async function messages(recordings: Recordings): Promise<string[]> {
  const state = (await recordings.find('m'))?.state as NodeState;
  const found: FoundRecord[] = [];
  const query = { order: 'oldest', limit: 1000, before: 0, after: 0 } as const;
  const { records } = await collectResponse(state.search(query) as never);
  found.push(...records);
  return found.map(({ message }) => message);
}

test.each([
  [0, 'recorded by a, until 10:41:07.005'],
  [300, 'recorded by a, until 10:41:07.005 (0.3 s before it was lost)'],
  [3_600_000, 'recorded by a, until 10:41:07.005 (1 h before it was lost)'],
  [30 * 86_400_000, 'recorded by a, until 2026-11-19T10:41:07.005Z (30 d before it was lost)'],
  [null, 'recorded by a only as it was followed there, until 10:41:07.005'],
])('what is missing of a recording, in words (%s)', (missingMs, text) => {
  expect(recordedText('a', { asOfMs: Date.parse('2026-11-19T10:41:07.005Z'), missingMs })).toBe(text);
});

describe('a recorder', () => {
  it('begins with what was written before, and goes on after a cut and a restart', async () => {
    const world = new World();
    world.node.write('app.log', logLines('a', at(0, 3)));
    world.recorder.start();
    await eventually(() => expect(world.text().split('\n')).toHaveLength(4));
    world.node.append('app.log', logLines('b', at(10, 2)));
    await eventually(() => expect(world.text().split('\n')).toHaveLength(6));
    await eventually(async () =>
      expect(await world.recordings.find('m')).toMatchObject({ recordedBy: 'self', missingMs: expect.any(Number) }),
    );
    world.node.cut();
    await eventually(() => expect(world.recordings.head('m')?.lostAgeMs).not.toBeNull());
    await eventually(() => expect(world.recordings.head('m')?.lostAgeMs).toBeNull());
    world.node.append('app.log', logLines('c', at(20, 2)));
    await eventually(() => expect(world.text().split('\n')).toHaveLength(8));
    await world.restart();
    world.node.append('app.log', logLines('d', at(30, 1)));
    await eventually(async () =>
      expect(await messages(world.recordings)).toEqual(['a-0', 'a-1', 'a-2', 'b-0', 'b-1', 'c-0', 'c-1', 'd-0']),
    );
    expect(world.reported).toEqual([]);
  });

  it('records a member that leaves until it has said goodbye, which it does after it is no longer listed', async () => {
    const world = new World();
    const { node } = world;
    node.write('app.log', logLines('a', at(0, 1)));
    world.recorder.start();
    await eventually(() => expect(world.text().split('\n')).toHaveLength(2));
    node.append('app.log', logLines('b', at(10, 1)));
    await eventually(() => expect(world.text().split('\n')).toHaveLength(3));
    world.isListed = false;
    world.onListed();
    node.append('app.log', logLines('c', at(20, 1)));
    await eventually(() => expect(world.text().split('\n')).toHaveLength(4));
    node.isStopping = true;
    node.cut();
    await eventually(() => expect(world.recordings.head('m')).toMatchObject({ lostAgeMs: expect.any(Number) }));
    expect(world.recordings.known('m')).toMatchObject({ missingMs: 0 });
    // What responds at its address from now on may be another node.
    node.isStopping = false;
    node.append('app.log', logLines('d', at(30, 1)));
    world.onListed();
    await world.recorder.close();
    expect(world.text()).not.toContain('d-0');
    expect(world.reported).toEqual([]);
  });

  it('begins with old records also of a member that is too busy to find them at once', async () => {
    const world = new World();
    const { node } = world;
    const oldMs = Date.now() - 86_400_000;
    node.write('app.log', logLines('a', [oldMs, oldMs + 1]));
    // As a search that had no turn in its time.
    const late = endItem({ reason: 'time budget', cursor: 'start' });
    const respond = node.respond.bind(node);
    const starts: SearchQuery['start'][] = [];
    node.respond = async function* (query, options) {
      starts.push(query.start);
      if (starts.length <= 2) yield [late];
      else yield* respond(query, options);
    };
    world.recorder.start();
    await eventually(async () => expect(await messages(world.recordings)).toEqual(['a-0', 'a-1']));
    expect(starts).toEqual([undefined, { cursor: 'start' }, { cursor: 'start' }]);
  });

  it('says what is missing of a member that was lost, and nothing of one that has said goodbye', async () => {
    const world = new World();
    world.node.write('app.log', logLines('a', at(0, 1)));
    world.recorder.start();
    const LOST = /^recorded by self, until [\d:.]+ \(\d+\.\d s before it was lost\)$/;
    await eventually(async () => expect((await world.recordings.find('m'))?.missingMs).toBeGreaterThan(0));
    // Who asks has noticed the loss before its recorder.
    expect(world.recordings.head('m')?.lostAgeMs).toBeNull();
    expect(world.recordings.known('m')?.label).toMatch(LOST);
    Object.assign(world.node, {
      describe: () => Promise.reject(Object.assign(new Error('gone'), { code: 'UNREACHABLE' })),
    });
    world.node.cut();
    await eventually(() => expect(world.recordings.head('m')?.lostAgeMs).toEqual(expect.any(Number)));
    expect(world.recordings.known('m')?.label).toMatch(LOST);

    const other = new World();
    other.node.write('app.log', logLines('a', at(0, 1)));
    other.recorder.start();
    // All of it was sent: what comes now is new.
    await eventually(() => expect(other.text()).toContain('a-0'));
    other.node.append('app.log', logLines('b', at(0, 1)));
    await eventually(() => expect(other.text()).toContain('b-0'));
    Object.assign(other.node, {
      describe: () => Promise.reject(Object.assign(new Error('gone'), { code: 'UNREACHABLE' })),
    });
    other.node.isStopping = true;
    other.node.cut();
    await eventually(() => expect(other.recordings.head('m')?.lostAgeMs).toEqual(expect.any(Number)));
    expect(other.recordings.known('m')).toMatchObject({ missingMs: 0, label: expect.stringMatching(/until [\d:.]+$/) });
  });

  it('records logs without timestamps, which are read by their names', async () => {
    const world = new World();
    world.node.write('app.log', logLines('a', at(0, 2)));
    world.node.write('notes.log', 'one\ntwo\n');
    world.recorder.start();
    await eventually(async () => expect(await messages(world.recordings)).toEqual(['a-0', 'a-1']));
    world.node.append('notes.log', 'three\n');
    const { state } = (await world.recordings.find('m')) ?? {};
    await eventually(async () => {
      const chunks: Uint8Array[] = [];
      const view = await state?.viewLog({ file: 'notes.log', sizeBytes: 1000 });
      for await (const chunk of view?.chunks ?? []) chunks.push(chunk);
      expect(Buffer.concat(chunks).toString()).toBe('one\ntwo\nthree\n');
    });
    const query = { order: 'oldest', limit: 10, before: 0, after: 0, src: ['notes.log'] } as const;
    const { records } = await collectResponse(state?.search(query) as never);
    expect(records.map(({ message }) => message)).toEqual(['one', 'two', 'three']);
    expect(await messages(world.recordings)).toEqual(['a-0', 'a-1']);
  });

  it('keeps what a member has lost with its disk', async () => {
    const world = new World();
    world.node.write('app.log', logLines('a', at(0, 40)));
    world.recorder.start();
    await eventually(() => expect(world.text().split('\n')).toHaveLength(41));
    world.node.cut();
    rmSync(join(world.node.dir, 'app.log'));
    await eventually(() => expect(world.recordings.head('m')?.lostAgeMs).not.toBeNull());
    world.node.write('app.log', logLines('new', at(100, 2)));
    await eventually(async () => {
      const found = await messages(world.recordings);
      expect(found).toHaveLength(42);
      expect(found.slice(-3)).toEqual(['a-39', 'new-0', 'new-1']);
    });
  });

  it('reads no more while clients wait for the node', async () => {
    const world = new World();
    const waiting: (() => void)[] = [];
    world.untilFree = () => new Promise((resolve) => waiting.push(resolve));
    world.node.write('app.log', logLines('a', at(0, 40)));
    world.recorder.start();
    await eventually(() => expect(waiting).toHaveLength(1));
    expect(() => world.text()).toThrow('ENOENT');
    world.untilFree = () => Promise.resolve();
    waiting[0]?.();
    await eventually(() => expect(world.text().split('\n')).toHaveLength(41));
  });

  it('records events whatever a member sends as the configurations that they name', async () => {
    const world = new World();
    const sent = [
      { config: 7 },
      null,
      { config: 'a', settings: [null, 1] },
      { config: 'a', settings: [{ key: 'k', value: 1 }] },
    ];
    const events = sent.map((_, index): FoundRecord => {
      const config = `${index}`.repeat(16);
      const raw = JSON.stringify({ time: new Date().toISOString(), message: 'm', kind: 'config-changed', config });
      const place = { file: 'events.log', offset: index * 500, bytes: raw.length + 1 };
      const cursor = `0123456789abcdef.sg.${index}.1.1s.YQ`;
      const context = { kind: 'config-changed', config };
      return { ...place, type: 'record', cursor, raw, timeMs: Date.now(), message: 'm', context } as FoundRecord;
    });
    let asked = 0;
    Object.assign(world.node, {
      async *events() {},
      async *followEvents() {
        yield [...events, { type: 'position', cursor: '' }];
        await new Promise((resolve) => setTimeout(resolve, 60_000).unref()); // pause: a member that does not respond
      },
      configVersion: async () => sent[asked++],
    });
    world.recorder.start();
    await eventually(() => expect(asked).toBe(4));
    const dir = join(world.dir, 'm', 'config-history');
    await eventually(() => expect(readdirSync(dir)).toHaveLength(2));
    expect(world.reported).toEqual([]);
  });

  it('stops with an event when the disk is full, and leaves the rest of it to the node', async () => {
    const world = new World();
    world.freeBytes = 1000;
    world.node.write('app.log', logLines('a', at(0, 3)));
    world.recorder.start();
    await eventually(() =>
      expect(world.events).toEqual([
        expect.stringMatching(/^recorder-stopped: members are not recorded: only 1000 bytes/),
      ]),
    );
    expect(world.recorder.problem).toContain('only 1000 bytes');
    await world.recorder.update();
    expect(world.events).toHaveLength(1);
    mkdirSync(join(world.dir, 'm'), { recursive: true });
    expect(() => world.text()).toThrow('ENOENT');
  });

  it('has one event and one report of a disk that cannot be written, however often it is tried, and goes on after that', async () => {
    const world = new World();
    world.node.write('app.log', logLines('a', at(0, 3)));
    world.recorder.start();
    await eventually(() => expect(world.text()).toContain('a-2'));
    const positions = join(world.dir, 'm', 'positions');
    renameSync(positions, `${positions}.away`);
    writeFileSync(positions, 'in the way');
    world.node.write('b.log', logLines('b', at(10, 3)));
    await eventually(() => expect(world.recorder.problem).toContain('members are not recorded'));
    const tries = world.tries;
    await eventually(async () => {
      await world.recorder.update();
      expect(world.tries).toBeGreaterThan(tries + 3);
    });
    expect(world.events).toHaveLength(1);
    expect(world.reported).toHaveLength(1);
    expect(world.recorder.problem).toContain('members are not recorded');
    rmSync(positions);
    renameSync(`${positions}.away`, positions);
    await eventually(async () => {
      await world.recorder.update();
      expect(world.recorder.problem).toBeNull();
    });
    expect(world.reported.slice(1)).toEqual(['members are recorded again']);
    expect(world.events).toHaveLength(1);
  });

  it('that has stopped is closed when nothing of it is under way any more', async () => {
    const world = new World();
    world.freeBytes = 1000;
    let finish = () => {};
    const isDescribed = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let requests = 0;
    const describe = () => {
      requests++;
      return isDescribed.then(() => description({ timeZone: 'UTC' }));
    };
    Object.assign(world.node, { describe });
    world.recorder.start();
    await eventually(() => expect([world.recorder.problem === null, requests]).toEqual([false, 1]));
    let isClosed = false;
    const closed = world.recorder.close().then(() => {
      isClosed = true;
    });
    await nextTurn();
    await nextTurn();
    expect(isClosed).toBe(false);
    finish();
    await closed;
  });
});
