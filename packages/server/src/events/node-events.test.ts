import { existsSync, mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigHistory, NodePast } from '@porthole/cluster/past';
import { type NodeEvent, type SettingEntry, toEvent } from '@porthole/contract';
import { LogDir } from '@porthole/logs';
import { SHARED_THREADS } from '@porthole/logs/testing';
import type { FoundRecord, SearchEnd } from '@porthole/logs/types';
import { toItems } from '@porthole/records';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ConfigSource } from '../config/service-config.ts';
import { EventLog } from './event-log.ts';
import { NodeEvents, RunMark } from './node-events.ts';

const ALL = { order: 'oldest', limit: 99, before: 0, after: 0 } as const;

/** A machine with one node, whose configuration, clock and version are given. */
class Machine {
  readonly dir = mkdtempSync(join(tmpdir(), 'porthole-machine-'));
  readonly eventsDir = join(this.dir, 'events');
  readonly history = new ConfigHistory(join(this.dir, 'config-history'));
  readonly warned: unknown[] = [];
  version = '1.0.0';
  nowMs = Date.parse('2026-11-17T03:00:00Z');
  runningMs = 0;
  values: Record<string, string> = { 'storage.dir': '/a', 'auth.password': '******' };
  differs: string[] = [];
  secret = 'one';
  observes: 'self' | 'service' = 'service';

  constructor() {
    onTestFinished(() => rmSync(this.dir, { recursive: true, force: true }));
  }

  get config(): ConfigSource {
    return {
      observes: this.observes,
      text: async () => JSON.stringify(this.values),
      source: async () => JSON.stringify(this.values),
      current: async () => ({
        text: JSON.stringify(this.values),
        values: Object.entries(this.values).map(([key, value]) => ({
          ...{ key, value },
          ...(value === '******' && { secret: true, fingerprint: this.secret }),
        })) as never,
      }),
      settings: async () => ({
        observes: this.observes,
        file: 'x.toml',
        settings: Object.entries(this.values).map(([key, value]) => ({ key, value }) as SettingEntry),
        disk: { state: 'same', differs: this.differs, detail: null },
      }),
      check: async () => ({ ok: true, detail: '' }),
    };
  }

  /** Passes this much time by both clocks. */
  async pass(ms: number, running: NodeEvents): Promise<void> {
    this.nowMs += ms;
    this.runningMs += ms;
    vi.advanceTimersByTime(ms);
    await running.checked();
  }

  async run(): Promise<NodeEvents> {
    const log = await EventLog.open({ dir: this.eventsDir, maxBytes: 1_000_000, now: () => this.nowMs });
    const warn = (...args: unknown[]) => this.warned.push(args);
    const events = new NodeEvents({
      ...{ log, history: this.history, config: this.config, version: this.version, startedMs: this.nowMs },
      mark: new RunMark(this.eventsDir),
      dirs: [this.dir],
      certificate: async () => undefined,
      ownLog: { warn } as never,
      now: () => this.nowMs,
      runningMs: () => this.runningMs,
    });
    await events.start();
    return events;
  }

  /** What happened, oldest first. */
  async events(): Promise<NodeEvent[]> {
    const { past, close } = this.past();
    const found: NodeEvent[] = [];
    for await (const items of toItems<FoundRecord, SearchEnd>(past.events(ALL)))
      for (const item of items)
        if (item.type === 'record') found.push(...([toEvent(item)].filter(Boolean) as NodeEvent[]));
    await close();
    return found;
  }

  past(): { past: NodePast; close(): Promise<void> } {
    const logs = new LogDir(this.eventsDir, { threads: SHARED_THREADS });
    return { past: new NodePast({ logs, history: this.history }), close: () => logs.close() };
  }
}

const kinds = (events: readonly NodeEvent[]) => events.map(({ kind }) => kind);

describe('a disk that cannot be written', () => {
  it('keeps every configuration and the time of its change waiting, and the history is not complete until then', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const machine = new Machine();
    const running = await machine.run();
    await running.checked();
    const path = join(machine.dir, 'config-history');
    renameSync(path, `${path}.away`);
    writeFileSync(path, 'in the way');
    const changedMs: number[] = [];
    for (const dir of ['/b', '/c', '/d']) {
      machine.values = { ...machine.values, 'storage.dir': dir };
      await machine.pass(5000, running);
      changedMs.unshift(machine.nowMs);
    }
    await running.log.flush();
    expect(running.historyProblem).toContain('EEXIST');
    const before = machine.past();
    expect(await before.past.configHistory({ limit: 9 })).toMatchObject({ isComplete: false });
    await before.close();
    rmSync(path);
    renameSync(`${path}.away`, path);
    await machine.pass(5000, running);
    expect(running.historyProblem).toBeUndefined();
    const after = machine.past();
    const { periods, isComplete } = await after.past.configHistory({ limit: 9 });
    await after.close();
    expect(isComplete).toBe(true);
    expect(periods.slice(0, 3).map(({ fromMs }) => fromMs)).toEqual(changedMs);
    expect(periods.slice(0, 3).map(({ changes }) => changes)).toEqual([
      [{ key: 'storage.dir', before: '/c', after: '/d' }],
      [{ key: 'storage.dir', before: '/b', after: '/c' }],
      [{ key: 'storage.dir', before: '/a', after: '/b' }],
    ]);
    await running.close();
  });

  it('has what happened since the start, and the sign of life, once it can be', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const machine = new Machine();
    writeFileSync(machine.eventsDir, 'in the way');
    const running = await machine.run();
    expect(running.log.problem).toContain('EEXIST');
    rmSync(machine.eventsDir);
    await machine.pass(2000, running);
    await running.log.flush();
    expect(running.log.problem).toBeUndefined();
    expect(existsSync(join(machine.eventsDir, 'running.json'))).toBe(true);
    expect(kinds(await machine.events())).toEqual(['started']);
    await running.close();
  });
});

describe('the end of a run', () => {
  it('that was told is a stop', async () => {
    const machine = new Machine();
    await (await machine.run()).close();
    await (await machine.run()).close();
    expect(kinds(await machine.events())).toEqual(['started', 'stopped', 'started', 'stopped']);
    expect(existsSync(join(machine.eventsDir, 'running.json'))).toBe(false);
  });

  it('that was not is a kill, at the time of the last sign of life, once', async () => {
    const machine = new Machine();
    const first = await machine.run();
    const aliveMs = machine.nowMs + 7000;
    utimesSync(join(machine.eventsDir, 'running.json'), aliveMs / 1000, aliveMs / 1000);
    await first.log.flush();
    machine.nowMs += 60_000;
    machine.version = '1.0.1';
    await (await machine.run()).close();
    const events = await machine.events();
    expect(kinds(events)).toEqual(['started', 'killed', 'version-changed', 'started', 'stopped']);
    expect(events[1]).toMatchObject({
      timeMs: aliveMs,
      level: 'ERROR',
      fields: { uncertaintyMs: 2000, isReboot: false },
    });
    expect(events[2]).toMatchObject({ fields: { before: '1.0.0', version: '1.0.1' } });
  });

  it('is a restart of the machine if it was started since', async () => {
    const machine = new Machine();
    await (await machine.run()).log.flush();
    const mark = join(machine.eventsDir, 'running.json');
    writeFileSync(mark, JSON.stringify({ pid: 7, startedMs: 5, version: '1.0.0', boot: 'another' }));
    await (await machine.run()).close();
    const killed = (await machine.events()).find(({ kind }) => kind === 'killed');
    expect(killed).toMatchObject({ message: expect.stringContaining('the machine was restarted'), fields: { pid: 7 } });
  });

  it.each(['', '{', '7', '{"pid":"x"}'])('is not known from a mark that is broken: %j', async (text) => {
    const machine = new Machine();
    await (await machine.run()).close();
    writeFileSync(join(machine.eventsDir, 'running.json'), text);
    await (await machine.run()).close();
    expect(kinds(await machine.events())).not.toContain('killed');
  });
});

describe('a configuration', () => {
  it('that changes while the node runs is a new version, with what changed', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const machine = new Machine();
    const running = await machine.run();
    const changedMs = machine.nowMs + 5000;
    machine.values = { 'storage.dir': '/b', 'storage.new': 'x' };
    await machine.pass(5000, running);
    await machine.pass(5000, running);
    await running.close();
    const changed = (await machine.events()).find(({ kind }) => kind === 'config-changed');
    expect(changed).toMatchObject({
      timeMs: changedMs,
      message: 'the configuration of the service changed: storage.dir, storage.new, auth.password',
      fields: { how: 'edit', keys: ['storage.dir', 'storage.new', 'auth.password'], changed: 3 },
    });
    const { past, close } = machine.past();
    const { periods, isComplete } = await past.configHistory({ limit: 9 });
    expect(isComplete).toBe(true);
    expect(periods).toMatchObject([
      {
        fromMs: changedMs,
        toMs: null,
        changes: [
          { key: 'storage.dir', before: '/a', after: '/b' },
          { key: 'storage.new', before: null, after: 'x' },
          { key: 'auth.password', before: '******', after: null },
        ],
      },
      { toMs: changedMs, changes: null },
    ]);
    expect((await past.configHistory({ limit: 9, key: 'storage' })).periods).toHaveLength(1);
    expect((await past.configHistory({ limit: 9, key: 'storage.dirs' })).periods).toEqual([]);
    expect((await past.configHistory({ limit: 9, atMs: changedMs - 1 })).periods).toEqual(periods.slice(1));
    const [, old] = periods;
    expect(await past.configVersion(old?.version ?? '')).toMatchObject({
      settings: [{ key: 'storage.dir', value: '/a' }, { key: 'auth.password' }],
    });
    for (const version of ['', '../events/events', '0123456789abcdef'])
      await expect(past.configVersion(version)).rejects.toMatchObject({ code: 'CONFIG_VERSION_NOT_FOUND' });
    await close();
  });

  it('that changed while the node was down is noticed at its start, and one that came back is the same version', async () => {
    const machine = new Machine();
    const first = machine.values;
    for (const values of [first, { 'storage.dir': '/c' }, first]) {
      machine.values = values;
      await (await machine.run()).close();
      machine.nowMs += 1000;
    }
    const changes = (await machine.events()).filter(({ kind }) => kind === 'config-changed');
    expect(changes.map(({ fields }) => fields.how)).toEqual(['restart', 'restart']);
    const { past, close } = machine.past();
    const versions = (await past.configHistory({ limit: 9 })).periods.map(({ version }) => version);
    expect(versions).toHaveLength(3);
    expect(versions[0]).toBe(versions[2]);
    await close();
  });

  it('of which only a secret changes is an event, and the same version', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const machine = new Machine();
    const running = await machine.run();
    machine.secret = 'two';
    await machine.pass(5000, running);
    await machine.pass(5000, running);
    await running.close();
    const changes = (await machine.events()).filter(({ kind }) => kind === 'config-changed');
    expect(changes.map(({ fields }) => fields.keys)).toEqual([['auth.password']]);
    expect(changes[0]?.fields.config).toBe(changes[0]?.fields.before);
  });

  it('that is edited and not in use is an event of its own, once for each edit', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const machine = new Machine();
    machine.observes = 'self';
    const running = await machine.run();
    for (const differs of [['http.port'], ['http.port'], [], ['http.port']]) {
      machine.differs = differs;
      await machine.pass(5000, running);
    }
    await running.close();
    expect(kinds(await machine.events()).filter((kind) => kind === 'config-file-differs')).toHaveLength(2);
  });

  it('that cannot be read is tried again: the rest is kept', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const machine = new Machine();
    const { config } = machine;
    const current = vi.fn(config.current).mockRejectedValueOnce(new Error('ENOENT'));
    vi.spyOn(machine, 'config', 'get').mockReturnValue({ ...config, current });
    const running = await machine.run();
    expect(machine.warned).toHaveLength(1);
    await machine.pass(5000, running);
    await running.close();
    await (await machine.run()).close();
    expect(kinds(await machine.events())).toEqual(['started', 'stopped', 'started', 'stopped']);
    expect((await machine.events())[0]?.fields).not.toHaveProperty('config');
    expect((await machine.events())[2]?.fields).toHaveProperty('config');
  });

  it('that is never returned keeps the node neither from starting nor from stopping', async () => {
    const machine = new Machine();
    vi.spyOn(machine, 'config', 'get').mockReturnValue({ ...machine.config, current: () => new Promise(() => {}) });
    await (await machine.run()).close();
    expect(kinds(await machine.events())).toEqual(['started', 'stopped']);
  });

  it('is for its user only', async () => {
    const machine = new Machine();
    await (await machine.run()).close();
    expect((statSync(join(machine.dir, 'config-history')).mode & 0o777).toString(8)).toBe('700');
  });
});

it('a clock that is set is an event; one that is corrected a little is not', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const machine = new Machine();
  const running = await machine.run();
  for (const stepMs of [0, 1500, -3_600_000]) {
    machine.nowMs += stepMs;
    await machine.pass(2000, running);
  }
  await running.close();
  const steps = (await machine.events()).filter(({ kind }) => kind === 'clock-stepped');
  expect(steps).toMatchObject([{ fields: { stepMs: -3_600_000 }, message: 'the clock was set back by 3600 s' }]);
});
