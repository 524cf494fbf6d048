import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { requestSettings } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';
import { ConfigThread } from './config-thread.ts';
import { viewConfig } from './config-view.ts';
import { RunningConfig } from './running-config.ts';

async function compare(path: string, text: string, output: string) {
  const { settings } = await viewConfig([{ path, text }], []);
  const command = [process.execPath, '-e', `process.stdout.write(${JSON.stringify(output)})`];
  return new RunningConfig(command, { maxBytes: 10_000 }).compareWith(settings, new ConfigThread([]));
}

/** Starts a process that stays, writes its id into a file and prints a setting. */
const LEAVING = (file: string) =>
  `const child = require('node:child_process').spawn('sleep', ['1000'], { stdio: ['ignore', 'inherit', 'ignore'] });
  require('node:fs').appendFileSync(${JSON.stringify(file)}, child.pid + '\\n');
  process.stdout.write('port = 2\\n', () => process.exit());`;

it('the command ends with what it has started, and health checks start it once a minute', async () => {
  const started = join(tempDir(), 'started');
  const { settings } = await viewConfig([{ path: 'a.ini', text: 'port = 1\n' }], []);
  const running = new RunningConfig([process.execPath, '-e', LEAVING(started)], { maxBytes: 10_000 });
  const thread = new ConfigThread([]);
  expect((await running.compareWith(settings, thread)).state).toBe('differs');
  for (let check = 0; check < 5; check++) expect(running.lastWith(settings, thread)?.state).toBe('differs');
  const ids = readFileSync(started, 'utf8').trim().split('\n');
  expect(ids).toHaveLength(1);
  await eventually(() => expect(isRunning(Number(ids[0]))).toBe(false));
});

/** One that has ended and that nobody has waited for does not run. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('what a service runs with is compared with its file by meaning', () => {
  it('PostgreSQL: rows with units', async () => {
    const text =
      "shared_buffers = 128MB\nwork_mem = 4MB\nmax_wal_size = 1GB\nlog_rotation_age = 1d\nfsync = yes\ntemp_buffers = 1024\nport = 5432\nlog_line_prefix = '%m [%p] '\nonly_here = 1\n";
    const output =
      'altered|on||configuration file\nunset|1||default\nshared_buffers|16384|8kB|configuration file\nwork_mem|8192|kB|session\nmax_wal_size|1024|MB|x\nlog_rotation_age|1440|min|x\nfsync|on||x\ntemp_buffers|1024|8kB|x\nport|5432||x\nlog_line_prefix|%m [%p] ||x\n';
    expect(await compare('postgresql.conf', text, output)).toEqual({
      state: 'differs',
      detail: null,
      comparedKeys: 8,
      differences: [
        { key: 'work_mem', onDisk: '4MB', running: '8192kB' },
        // By ALTER SYSTEM, in a file that cannot be read.
        { key: 'altered', onDisk: null, running: 'on' },
      ],
    });
  });

  it('Redis: names and values in turn, with a secret', async () => {
    const text =
      'maxmemory 100mb\nsave 900 1\nsave 300 10\nrequirepass Running-1\nmasterauth Running-2\nappendonly no\n';
    const output =
      'maxmemory\n104857600\nsave\n900 1 300 10\nrequirepass\nRunning-9\nmasterauth\nRunning-2\nappendonly\nyes\n';
    const result = await compare('redis.conf', text, output);
    expect(result).toMatchObject({
      comparedKeys: 5,
      differences: [
        { key: 'requirepass', onDisk: '******', running: '******' },
        { key: 'appendonly', onDisk: 'no', running: 'yes' },
      ],
    });
  });

  it('MySQL: names without their section, sizes with a letter', async () => {
    const text =
      '[mysqld]\ninnodb-buffer-pool-size = 128M\nmax_connections = 151\nskip_name_resolve\ndatadir=/var/lib/mysql\n';
    const output =
      'innodb_buffer_pool_size\t134217728\nmax_connections\t200\nskip_name_resolve\tON\ndatadir\t/var/lib/mysql/\n';
    expect((await compare('my.cnf', text, output)).differences).toEqual([
      { key: 'mysqld.max_connections', onDisk: 151, running: 200 },
    ]);
  });
});

describe('a command that', () => {
  it.each([
    ['does not exist', ['/no/such/program'], 'was not found'],
    ['fails', [process.execPath, '-e', 'console.log("hunter2"); process.exit(3)'], 'failed with 3'],
    ['prints too much', [process.execPath, '-e', 'console.log("x".repeat(20000))'], 'config.max-bytes'],
  ])('%s is said to, without its output', async (_what, command, reason) => {
    const { settings } = await viewConfig([{ path: 'a.ini', text: 'a = 1\n' }], []);
    const result = await new RunningConfig(command, { maxBytes: 10_000 }).compareWith(settings, new ConfigThread([]));
    expect(result).toMatchObject({ state: 'failed', detail: expect.stringContaining(reason) });
    expect(result.detail).not.toContain('hunter2');
  });

  it('is set is a part of the settings, and started without a shell', async () => {
    const configFile = join(tempDir(), 'redis.conf');
    writeFileSync(configFile, 'port 6379\ndir /data\n');
    const configCommand = [process.execPath, '-p', 'process.argv.slice(1).join("\\n")', 'port', '6380', 'dir', '$(id)'];
    const { port } = await startTestNode({ settings: { service: { configFile, configCommand } } });
    const { running, format } = await requestSettings(port);
    expect(format).toBe('key-value');
    expect(running).toEqual({
      state: 'differs',
      detail: null,
      comparedKeys: 2,
      differences: [
        { key: 'port', onDisk: 6379, running: 6380 },
        { key: 'dir', onDisk: '/data', running: '$(id)' },
      ],
    });
  });
});
