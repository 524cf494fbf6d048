import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { EventLog } from './event-log.ts';
import {
  findListener,
  parseUnit,
  readBootMs,
  readPidFile,
  readProcess,
  ServiceEvents,
  type ServiceEventsDeps,
} from './service-events.ts';

type Written = Record<string, unknown> & { kind: string; message: string };

const isLinux = existsSync('/proc/self/stat');

/** A machine with a service, whose process is a real one. */
class Machine {
  readonly dir = mkdtempSync(join(tmpdir(), 'porthole-service-'));
  readonly pidFile = join(this.dir, 'service.pid');
  readonly #running: ChildProcess[] = [];

  constructor() {
    onTestFinished(() => {
      for (const child of this.#running) child.kill('SIGKILL');
      rmSync(this.dir, { recursive: true, force: true });
    });
  }

  startService(): ChildProcess & { pid: number } {
    const child = spawn('sleep', ['100'], { stdio: 'ignore' });
    this.#running.push(child);
    writeFileSync(this.pidFile, `${child.pid}\n`);
    return child as ChildProcess & { pid: number };
  }

  async watch(more: Partial<ServiceEventsDeps> = {}) {
    const log = await EventLog.open({ dir: join(this.dir, 'events'), maxBytes: 1_000_000 });
    onTestFinished(() => log.close());
    const ownLog = { warn: vi.fn() };
    const service = new ServiceEvents({
      ...{ log, pidFile: this.pidFile, unit: '', tallies: { lastFatal: undefined }, ownLog: ownLog as never },
      config: { observes: 'service', current: async () => ({ text: '', values: [] }) },
      ...more,
    });
    const poll = async (): Promise<Written[]> => {
      await service.poll();
      await log.flush();
      const lines = readFileSync(join(this.dir, 'events', 'events.log'), 'utf8')
        .split('\n')
        .slice(0, -1);
      return lines.map((line) => JSON.parse(line) as Written);
    };
    return { service, poll, log, ownLog };
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  await once(child, 'exit');
}

describe.runIf(isLinux)('a service with a pid file', () => {
  it('that is killed, started again and stopped is an event each time, with what was last seen of it', async () => {
    const machine = new Machine();
    const first = machine.startService();
    const { poll } = await machine.watch();
    await poll();
    await poll();
    await end(first, 'SIGKILL');
    const second = machine.startService();
    writeFileSync(machine.pidFile, `${first.pid}`);
    const killed = await poll();
    writeFileSync(machine.pidFile, `${second.pid}\n`);
    await poll();
    rmSync(machine.pidFile);
    await end(second, 'SIGTERM');
    const all = await poll();
    expect(all.map(({ kind }) => kind)).toEqual([
      ...['service-started', 'service-killed', 'service-started', 'service-stopped'],
    ]);
    expect(all[0]).toMatchObject({ pid: first.pid, program: 'sleep', startedMs: expect.any(Number) });
    expect(Math.abs(Number(all[0]?.startedMs) - Date.now())).toBeLessThan(60_000);
    expect(killed[1]).toMatchObject({
      ...{ level: 'ERROR', pid: first.pid, memoryBytes: expect.any(Number), openFiles: expect.any(Number) },
      uncertaintyMs: expect.any(Number),
      message: `the service was killed or crashed: sleep, process ${first.pid}; its pid file is still there`,
    });
    expect(killed[1]).not.toHaveProperty('signal');
    expect(all[3]).toMatchObject({ pid: second.pid, message: expect.stringContaining('its pid file was removed') });
  });

  it('is the same one for the next run of the node, which notices if it has ended since', async () => {
    const machine = new Machine();
    const child = machine.startService();
    for (let run = 0; run < 2; run++) {
      const { poll, log } = await machine.watch();
      expect(await poll()).toHaveLength(1);
      await log.close();
    }
    await end(child, 'SIGKILL');
    machine.startService();
    const { poll } = await machine.watch();
    const all = await poll();
    expect(all.map(({ kind }) => kind)).toEqual(['service-started', 'service-stopped', 'service-started']);
    expect(all[1]).toMatchObject({ pid: child.pid, message: expect.stringContaining('while the node was down') });
  });

  it('that has logged a fatal error has crashed', async () => {
    const machine = new Machine();
    const child = machine.startService();
    const record = { cursor: 'c', file: 'db.log', message: 'mysqld got signal 11 ;' };
    const lastFatal = { log: 'db.log', record: record as never, timeMs: Date.now() };
    const { poll } = await machine.watch({ tallies: { lastFatal } });
    await poll();
    rmSync(machine.pidFile);
    await end(child, 'SIGTERM');
    expect((await poll())[1]).toMatchObject({ kind: 'service-killed', log: 'db.log', record });
  });

  it.each(['', 'x', '-1', '0', '99999999', '4194305', '7'.repeat(100_000), 'a\u0000b'])(
    'that has %j in it runs no process',
    async (text) => {
      const machine = new Machine();
      writeFileSync(machine.pidFile, text);
      expect(await readPidFile(machine.pidFile)).toBeUndefined();
    },
  );

  it('that is missing, a directory, or older than the process, is none', async () => {
    const machine = new Machine();
    const { poll, ownLog } = await machine.watch();
    mkdirSync(machine.pidFile);
    expect(await poll()).toEqual([]);
    rmSync(machine.pidFile, { recursive: true });
    machine.startService();
    utimesSync(machine.pidFile, new Date(0), new Date(0));
    expect(await poll()).toEqual([]);
    expect(ownLog.warn).not.toHaveBeenCalled();
  });
});

describe.runIf(isLinux)('a service without a pid file', () => {
  /** A `systemctl` that says this of the unit. */
  function fakeSystemctl(machine: Machine, state: () => Record<string, string | number>): { write(): void } {
    const path = join(machine.dir, 'systemctl');
    const write = () => {
      const lines = Object.entries({ LoadState: 'loaded', NRestarts: 0, ...state() }).map((pair) => pair.join('='));
      writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')}\n`);
      chmodSync(path, 0o755);
    };
    vi.stubEnv('PATH', `${machine.dir}:${process.env.PATH}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    write();
    return { write };
  }

  it('that is a unit: systemd knows how it ended', async () => {
    const machine = new Machine();
    const child = machine.startService();
    let state: Record<string, string | number> = { MainPID: child.pid, Result: 'success', ExecMainCode: 0 };
    const systemctl = fakeSystemctl(machine, () => state);
    const { poll } = await machine.watch({ pidFile: '', unit: 'db.service' });
    expect(await poll()).toMatchObject([{ kind: 'service-started', pid: child.pid }]);
    await end(child, 'SIGKILL');
    state = { MainPID: 0, Result: 'oom-kill', ExecMainCode: 2, ExecMainStatus: 9 };
    systemctl.write();
    expect((await poll())[1]).toMatchObject({
      ...{ kind: 'service-killed', signal: 'SIGKILL', result: 'oom-kill' },
      message: `the service was killed or crashed: sleep, process ${child.pid}; by SIGKILL (systemd: oom-kill)`,
    });
  });

  it('that is a unit which was restarted: how it ended is not claimed', async () => {
    const machine = new Machine();
    const child = machine.startService();
    let state: Record<string, string | number> = { MainPID: child.pid, Result: 'success' };
    const systemctl = fakeSystemctl(machine, () => state);
    const { poll } = await machine.watch({ pidFile: '', unit: 'db.service' });
    await poll();
    await end(child, 'SIGKILL');
    const { pid } = machine.startService();
    state = { MainPID: pid, Result: 'success', ExecMainCode: 0, NRestarts: 1 };
    systemctl.write();
    const [, stopped, started] = await poll();
    expect(stopped).toMatchObject({ kind: 'service-stopped', restarts: 1 });
    expect(stopped).not.toHaveProperty('signal');
    expect(started).toMatchObject({ kind: 'service-started', pid });
  });

  it('is the process that listens on the port of its configuration', async () => {
    const machine = new Machine();
    const script =
      'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => console.log(s.address().port))';
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [printed] = (await once(child.stdout, 'data')) as [Buffer];
    const values = [{ key: 'server.port', value: Number(printed.toString()) }];
    const { poll } = await machine.watch({
      pidFile: '',
      config: { observes: 'service', current: async () => ({ text: '', values: values as never }) },
    });
    expect(await poll()).toMatchObject([{ kind: 'service-started', pid: child.pid }]);
    await end(child, 'SIGKILL');
    expect((await poll())[1]).toMatchObject({
      kind: 'service-stopped',
      message: expect.stringContaining('how is not known'),
    });
  });

  it('is never the node itself', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    expect(await findListener((server.address() as { port: number }).port)).toBeUndefined();
  });
});

describe.runIf(isLinux)('a process', () => {
  it('is read with its start and memory, and one that has ended is none', async () => {
    const bootMs = await readBootMs();
    const own = await readProcess(process.pid, bootMs ?? 0);
    expect(own?.memoryBytes).toBeGreaterThan(1_000_000);
    expect(Math.abs((own?.startedMs ?? 0) - (Date.now() - process.uptime() * 1000))).toBeLessThan(5000);
    const child = spawn('true');
    await once(child, 'exit');
    expect(await readProcess(child.pid ?? 0, bootMs ?? 0)).toBeUndefined();
  });
});

it.each([
  ['', undefined],
  ['LoadState=not-found\nMainPID=0', undefined],
  [
    'LoadState=loaded\nMainPID=7\nResult=success\nExecMainCode=0\nExecMainStatus=0\nNRestarts=2',
    { pid: 7, restarts: 2 },
  ],
  ['LoadState=loaded\nMainPID=0\nResult=exit-code\nExecMainCode=1\nExecMainStatus=3', { pid: undefined, exitCode: 3 }],
  ['LoadState=loaded\nMainPID=x\nResult=core-dump\nExecMainCode=3\nExecMainStatus=11', { pid: undefined, signal: 11 }],
])('what systemd says: %j', (text, expected) => {
  if (expected) expect(parseUnit(text)).toMatchObject(expected);
  else expect(parseUnit(text)).toBeUndefined();
});
