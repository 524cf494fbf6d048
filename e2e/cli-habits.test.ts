import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { startTestNode } from '@porthole/server/testing';
import { createToken } from '@porthole/server/tokens';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BINARY, runCommand } from './testing/program.ts';

const line = (second: number, level: string, text: string) =>
  `2026-11-15 05:00:0${second}.000\t${level}\ta.go:1\t[A]: ${text}\t{"shard": ${second}}\n`;

const BROKER = [1, 2, 3, 4, 5]
  .map((second) => line(second, second === 4 ? 'WARN' : 'INFO', `broker ${second}`))
  .join('');
const ACCESS = line(3, 'INFO', 'access 3');

/** A node with two logs, and a command line that asks it. */
async function startNode() {
  const { port, running, dir } = await startTestNode({
    settings: { node: { timeZone: 'UTC' }, cluster: { name: 'test', nodeId: 'n-1' } },
    files: { 'broker.log': BROKER, 'access.log': ACCESS },
  });
  const cwd = join(dir, 'cwd');
  mkdirSync(cwd);
  const env = { PORTHOLE_URL: `http://127.0.0.1:${port}`, HOME: dir };
  return { cwd, running, run: (...args: string[]) => runCommand(args, cwd, env) };
}

describe('words of habit', () => {
  it.each([
    ['logs list', 'logs ls', ['-o', 'names'], 'access.log\nbroker.log\n'],
    ['logs tail', 'logs', ['-n', '1', 'access.log'], ACCESS],
    ['tail', 'logs', ['-n', '1', 'access.log'], ACCESS],
    ['search', 'logs search', ['access', 'access.log'], ACCESS],
    ['logs grep', 'logs search', ['access', 'access.log'], ACCESS],
    ['ls', 'logs ls', ['-o', 'names'], 'access.log\nbroker.log\n'],
    ['nodes list', 'nodes', ['-o', 'names'], 'n-1\n'],
    ['top', 'logs top', ['shard', 'access.log', '-o', 'csv'], 'shard,count\r\n3,1\r\n'],
    ['logs stats', 'logs digest', ['--help'], /^Usage: porthole logs digest /],
    ['follow', 'logs --follow', ['--help'], /^Usage: porthole logs /],
  ])('porthole %s is porthole %s, and says so', async (typed, meant, more, output) => {
    const { run } = await startNode();
    const { stdout, stderr } = await run(...typed.split(' '), ...more);
    expect(stderr).toBe(`porthole: "porthole ${typed}" is "porthole ${meant}"\n`);
    if (typeof output === 'string') expect(stdout).toBe(output);
    else expect(stdout).toMatch(output);
  });

  it('are files where there are such files', async () => {
    const { cwd, run } = await startNode();
    writeFileSync(join(cwd, 'list'), BROKER);
    expect(await run('logs', 'list', '-n', '1')).toMatchObject({ stdout: line(5, 'INFO', 'broker 5'), stderr: '' });
  });
});

describe('a log that does not exist', () => {
  it('is an error that names near logs and files', async () => {
    const { cwd, run } = await startNode();
    writeFileSync(join(cwd, 'brokers.log'), BROKER);
    const meant = 'did you mean "broker.log" or "./brokers.log"?\n';
    expect(await run('logs', 'brokker.log')).toMatchObject({
      code: 2,
      stderr: `porthole: no log file named "brokker.log"; ${meant}`,
    });
    expect((await run('logs', 'digest', 'n-1:acess.log')).stderr).toContain('; did you mean "access.log"?\n');
    expect((await run('logs', './broker.log')).stderr).toBe(
      'porthole: ./broker.log: no such file or directory; did you mean "./brokers.log"?\n',
    );
  });

  it('is an error that lists the logs if none is near', async () => {
    const { run } = await startNode();
    expect((await run('logs', 'zzz')).stderr).toBe(
      'porthole: no log file named "zzz"; there are access.log, broker.log\n',
    );
    expect((await run('logs', '--all', 'zzz', '-f')).stderr).toContain('; there are access.log, broker.log\n');
    expect((await run('logs', 'zzz', 'yyy')).stderr).toContain('; there are access.log, broker.log\n');
  });
});

it('logs top of a field that no record has lists the fields', async () => {
  const { run } = await startNode();
  expect((await run('logs', 'top', 'nosuchfield')).stderr).toMatch(
    /^porthole: no matching record has the field nosuchfield; there are .*\bshard\b/,
  );
  expect((await run('logs', 'top', 'shart')).stderr).toContain('; did you mean "shard"?\n');
});

it('records of several nodes have their node in front when they are piped', async () => {
  const { run } = await startNode();
  const prefixed = (file: string, text: string) => `n-1:${file}:${text}`;
  expect((await run('logs', '--all', 'access.log')).stdout).toBe(prefixed('access.log', ACCESS));
  expect((await run('logs', '--all', '-n', '1')).stdout).toBe(prefixed('broker.log', line(5, 'INFO', 'broker 5')));
  expect((await run('logs', '--all', 'access.log', '--prefix', 'never')).stdout).toBe(ACCESS);
  expect((await run('logs', 'access.log')).stdout).toBe(ACCESS);
  expect((await run('logs', 'n-1:access.log')).stdout).toBe(ACCESS);
  expect((await run('logs', 'n-*:access.log')).stdout).toBe(prefixed('access.log', ACCESS));
});

it('a long record of several nodes is printed wholly', async () => {
  const text = 'x'.repeat(300_000);
  const { port, dir } = await startTestNode({
    settings: { cluster: { name: 'test', nodeId: 'n-1' } },
    files: { 'a.log': line(1, 'INFO', text) },
  });
  const { stdout } = await runCommand(['logs', '--all', '--url', `http://127.0.0.1:${port}`], dir);
  expect(stdout).toBe(`n-1:a.log:${line(1, 'INFO', text)}`);
});

describe('logs around', () => {
  const TIME = ['--time', '2026-11-15T05:00:03Z', '--around', '1s'];

  it('takes logs, filters, --all and local files', async () => {
    const { cwd, run } = await startNode();
    const messages = async (...args: string[]) => {
      const { stdout, stderr } = await run('logs', 'around', ...TIME, ...args, '-o', 'json');
      expect(stderr).toBe('');
      const records = stdout
        .split('\n')
        .slice(0, -1)
        .map((text) => JSON.parse(text) as { message: string });
      return records.map(({ message }) => message);
    };
    const all = ['access 3', 'broker 2', 'broker 3', 'broker 4'];
    expect((await messages()).sort()).toEqual(all);
    expect((await messages('n-1')).sort()).toEqual(all);
    expect((await messages('--all')).sort()).toEqual(all);
    expect(await messages('-Q', 'level>=warn')).toEqual(['broker 4']);
    expect(await messages('n-1', '-Q', 'shard<=2')).toEqual(['broker 2']);
    expect(await messages('--all', 'broker.log')).toEqual(['broker 2', 'broker 3', 'broker 4']);
    expect(await messages('access.log')).toEqual(['access 3']);
    expect(await messages('n-1:broker.log', '-g', 'broker 3')).toEqual(['broker 3']);
    writeFileSync(join(cwd, 'here.log'), BROKER.replaceAll('broker', 'here'));
    expect(await messages('here.log', '--log-zone', 'UTC')).toEqual(['here 2', 'here 3', 'here 4']);
    // The nearest ones, half of them before it.
    expect(await messages('broker.log', '-n', '2')).toEqual(['broker 2', 'broker 3']);
  });

  it('takes a record together with a filter', async () => {
    const { run } = await startNode();
    const { stdout } = await run('logs', '--all', '-g', 'broker 3', '-o', 'json');
    const { node, cursor } = JSON.parse(stdout) as { node: string; cursor: string };
    const found = await run(
      'logs',
      'around',
      '--at',
      `${node}:${cursor}`,
      '--around',
      '1s',
      '-l',
      'warn',
      '-o',
      'json',
    );
    expect(found.stderr).toBe('');
    expect(JSON.parse(found.stdout)).toMatchObject({ message: 'broker 4' });
  });
});

it('a node that wants credentials gets help for tokens and for client certificates', async () => {
  const dir = tempDir();
  const tokenFile = join(dir, 'tokens');
  writeFileSync(tokenFile, `${createToken('ann', []).line}\n`);
  const { port } = await startTestNode({ settings: { auth: { tokenFile } } });
  const { stderr } = await runCommand(['logs', '--url', `http://127.0.0.1:${port}`], dir);
  expect(stderr).toContain(
    'Pass a token with --token-file FILE or PORTHOLE_TOKEN, or a client certificate with --cert-file FILE and --key-file FILE\n',
  );
});

it('a demo that npm has started ends when npm ends the shell between them', async () => {
  const cwd = tempDir();
  // As npx does it; what follows keeps the shell from becoming the program.
  const command = `"${process.execPath}" "${BINARY}" demo --nodes 1 --http-port 0 --grpc-port 0; exit`;
  const env = { PATH: process.env.PATH, TMPDIR: cwd, npm_command: 'exec' };
  const shell = spawn('sh', ['-c', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  onTestFinished(() => {
    // Whatever is left of it, if the test has failed.
    if (shell.pid !== undefined && shell.stdout.readable) process.kill(-shell.pid, 'SIGKILL');
  });
  let output = '';
  while (!output.includes('porthole is ready')) output += String((await once(shell.stdout, 'data'))[0]);
  const dir = /ready at (\S+)/.exec(output)?.[1] ?? '';
  expect((await fetch(`${dir}health/live`)).status).toBe(200);
  shell.kill('SIGTERM');
  // It has the pipe open until it ends.
  await once(shell.stdout.resume(), 'close');
  await expect(fetch(`${dir}health/live`)).rejects.toThrow();
  expect(existsSync(join(cwd, 'data'))).toBe(false);
});
