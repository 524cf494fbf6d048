import { appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeLindb } from '@porthole/cluster/testing';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import type { PartialSettings } from '@porthole/server';
import { freePorts, startTestNode } from '@porthole/server/testing';
import { describe, expect, it } from 'vitest';
import { startLindbNode } from './testing/lindb-node.ts';
import { BROKER_LINES, BROKER_RECORDS, writeBrokerLog } from './testing/log-fixture.ts';
import { Program, runCommand } from './testing/program.ts';
import { TerminalProgram } from './testing/pseudo-terminal.ts';

const ENV = { TZ: 'UTC' };

/** A node over a directory with the broker's log, and another directory to work in. */
async function startNode(settings: PartialSettings = {}) {
  const { port, logDir } = await startTestNode({ settings: { node: { timeZone: 'UTC' }, ...settings } });
  writeBrokerLog(logDir);
  return { url: `http://127.0.0.1:${port}`, cwd: tempDir(), logDir };
}

describe('a node and a directory are asked alike', () => {
  it('with every flag the output is the same', async () => {
    const { url, cwd, logDir } = await startNode();
    const lines = [
      ['logs', 'WHERE', '-n', '2'],
      ['logs', 'WHERE', '-n', 'all', '-o', 'json'],
      ['logs', 'WHERE', '-l', 'warn', '-o', 'logfmt'],
      ['logs', 'WHERE', '-l', 'error', '-C', '1'],
      ['logs', 'WHERE', '-S', '2026-11-15 05:01', '-e', 'panic'],
      ['logs', 'search', 'broker', 'WHERE', '--oldest'],
      ['logs', 'search', 'nothing', 'WHERE'],
      ['logs', 'histogram', 'WHERE', '--bucket', '1m'],
      ['logs', 'digest', 'WHERE'],
      ['logs', 'ls', 'WHERE'],
    ];
    for (const line of lines) {
      const ask = (where: string) =>
        runCommand(
          line.map((word) => (word === 'WHERE' ? where : word)),
          cwd,
          ENV,
        );
      const [ofNode, ofDirectory] = await Promise.all([ask(url), ask(logDir)]);
      expect(ofNode, line.join(' ')).toEqual(ofDirectory);
    }
  });

  it('--url and PORTHOLE_URL say which node, and names are names there', async () => {
    const { url, cwd } = await startNode();
    const [last] = BROKER_RECORDS.slice(-1);
    writeFileSync(join(cwd, 'broker.log'), 'a file here of the same name\n');
    const byFlag = await runCommand(['logs', 'broker.log', '-n', '1', '--url', url], cwd, ENV);
    expect(byFlag).toMatchObject({ code: 0, stdout: `${last}\n`, stderr: '' });
    const byEnv = await runCommand(['logs', '-n', '1'], cwd, { ...ENV, PORTHOLE_URL: url });
    expect(byEnv).toMatchObject({ code: 0, stdout: `${last}\n`, stderr: '' });
  });

  it('a name that is not there is answered with one that is', async () => {
    const { url, cwd } = await startNode();
    const { code, stdout, stderr } = await runCommand(['logs', 'brokre.log', '--url', url], cwd, ENV);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe('porthole: no log file named "brokre.log"; did you mean "broker.log"?\n');
  });
});

describe('a node that does not answer', () => {
  it('is reported with the way out and exit code 2', async () => {
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const { code, stdout, stderr } = await runCommand(['logs', '--url', url], tempDir(), ENV);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^porthole: .*ECONNREFUSED.*--url or PORTHOLE_URL.*\n$/);
    expect(stderr).toContain(url);
  });

  it('wants a token, which comes from a file or the environment', async () => {
    const cwd = tempDir();
    const { stdout: line, stderr } = await runCommand(['token', 'ann'], cwd);
    const token = stderr.trim().split(' ').at(-1) ?? '';
    writeFileSync(join(cwd, 'tokens'), line);
    writeFileSync(join(cwd, 'mine'), `${token}\n`);
    const { url } = await startNode({ auth: { tokenFile: join(cwd, 'tokens') } });
    const ask = (args: string[], env = {}) =>
      runCommand(['logs', '-n', '1', '--url', url, ...args], cwd, { ...ENV, ...env });
    const refused = await ask([]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--token-file');
    expect(await ask(['--token-file', 'mine'])).toMatchObject({ code: 0, stderr: '' });
    expect(await ask([], { PORTHOLE_TOKEN: token })).toMatchObject({ code: 0, stderr: '' });
    const wrong = await ask([], { PORTHOLE_TOKEN: 'wrong' });
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).not.toContain('wrong');
    expect(await ask(['--token-file', 'absent'])).toMatchObject({ code: 2 });
  });
});

describe('porthole logs --follow', () => {
  it.each(['a file', 'a node'])('of %s writes what comes, through rotation, until it is interrupted', async (what) => {
    const { url, cwd, logDir } = await startNode();
    const path = join(logDir, 'broker.log');
    const where = what === 'a file' ? [path] : ['broker.log', '--url', url];
    const program = new Program(['logs', ...where, '-f', '-n', '1'], { cwd, env: ENV });
    const record = (n: number) => `2026-11-15 06:00:0${n}.000\tINFO\ta.go:1\t[A]: line ${n}`;
    await eventually(() => expect(program.stdout).toBe(`${BROKER_RECORDS.at(-1)}\n`));
    appendFileSync(path, `${record(1)}\n${record(2)}\n`);
    await eventually(() => expect(program.stdout).toContain(record(2)));
    renameSync(path, join(logDir, 'broker.log.1'));
    writeFileSync(path, `${record(3)}\n`);
    await eventually(() => expect(program.stdout).toContain(record(3)));
    program.kill('SIGINT');
    const { code, stdout, stderr } = await program.end();
    expect({ code, stdout }).toEqual({
      code: 130,
      stdout: `${[BROKER_RECORDS.at(-1), record(1), record(2), record(3)].join('\n')}\n`,
    });
    expect(stderr).toBe('porthole: broker.log was rotated to broker.log.1\n');
  });

  it('goes on after the node was gone for a while, without losing or repeating a line', async () => {
    const [port = 0] = await freePorts(1);
    const cwd = tempDir();
    const path = writeBrokerLog(cwd);
    const flags = ['--http-port', String(port), '--grpc-port', '0', '--log-dir', cwd, '--node-time-zone', 'UTC'];
    const node = new Program(['serve', ...flags], { cwd: tempDir() });
    const url = await node.ready();
    const record = (n: number) => `2026-11-15 06:00:0${n}.000\tINFO\ta.go:1\t[A]: line ${n}`;
    const program = new Program(['logs', 'broker.log', '-f', '-n', '1', '--url', url], { cwd, env: ENV });
    appendFileSync(path, `${record(1)}\n`);
    await eventually(() => expect(program.stdout).toContain(record(1)));
    node.kill('SIGTERM');
    await node.end();
    appendFileSync(path, `${record(2)}\n`);
    await eventually(() => expect(program.stderr).toContain('retrying in'));
    await new Program(['serve', ...flags], { cwd: tempDir() }).ready();
    appendFileSync(path, `${record(3)}\n`);
    await eventually(() => expect(program.stdout).toContain(record(3)));
    program.kill('SIGTERM');
    const { code, stdout } = await program.end();
    expect(code).toBe(143);
    const lines = stdout.split('\n').filter((line) => line.includes('[A]'));
    expect(lines).toEqual([record(1), record(2), record(3)]);
  });

  it.each(['a file', 'a node'])('of %s that is far behind says how far, and when it has caught up', async (what) => {
    const { url, cwd, logDir } = await startNode();
    const record = (n: number) => `2026-11-15 06:00:00.000\tINFO\ta.go:1\t[A]: ${String(n).padStart(990, '.')}\n`;
    const path = join(logDir, 'large.log');
    writeFileSync(path, Array.from({ length: 24_000 }, (_, n) => record(n)).join(''));
    const where = what === 'a file' ? [path] : ['large.log', '--url', url];
    const program = new Program(['logs', ...where, '-f', '-n', 'all'], { cwd, env: ENV });
    await eventually(() => {
      program.readOnePart();
      expect(program.stderr).toMatch(/^porthole: \d+(\.\d+)? MiB behind what is written$/m);
    });
    program.readAll();
    await eventually(() => expect(program.stderr).toMatch(/^porthole: caught up$/m));
    expect(program.stdout).toContain(record(23_999));
    program.kill('SIGINT');
    expect((await program.end()).code).toBe(130);
  });

  it('ends with Ctrl-C on a terminal', async () => {
    const cwd = tempDir();
    writeBrokerLog(cwd);
    const program = new TerminalProgram(['logs', 'broker.log', '-f', '-n', '1', '--color', 'never'], { cwd });
    await eventually(() => expect(program.output).toContain('recovered'));
    program.type('\u0003');
    const { code, output } = await program.end();
    expect(code).toBe(130);
    expect(output.replace('^C', '')).toBe(
      '2026-11-15 05:02:01.000 INFO  [Broker] [Runtime] recovered broker/runtime.go:200\n',
    );
  });

  it('is a quiet success when the reader has seen enough', async () => {
    const cwd = tempDir();
    const lines = Array.from({ length: 20_000 }, (_, n) => `2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: line ${n}`);
    writeFileSync(join(cwd, 'a.log'), `${lines.join('\n')}\n`);
    for (const args of [
      ['logs', 'a.log', '-n', 'all'],
      ['logs', 'search', 'line', 'a.log', '-n', 'all'],
      ['logs', 'a.log', '-f', '-n', 'all'],
    ]) {
      const { execFileSync } = await import('node:child_process');
      const { BINARY } = await import('./testing/program.ts');
      const words = [process.execPath, BINARY, ...args].join(' ');
      const said = execFileSync(
        'bash',
        ['-c', `${words} 2>said | head -1 >first; echo "\${PIPESTATUS[0]}" "$(wc -c <said)"`],
        { cwd },
      );
      expect(said.toString()).toBe('0 0\n');
      expect(readFileSync(join(cwd, 'first'), 'utf8')).toMatch(/^2026.*line \d+\n$/);
    }
  });
});

describe('porthole logs download', () => {
  it('writes the file as it is, only when it is not there yet', async () => {
    const { url, cwd, logDir } = await startNode();
    const get = (...args: string[]) => runCommand(['logs', 'download', ...args, '--url', url], cwd, ENV);
    expect(await get('broker.log')).toMatchObject({ code: 0, stdout: '', stderr: 'porthole: broker.log: 490 B\n' });
    const bytes = readFileSync(join(logDir, 'broker.log'));
    expect(readFileSync(join(cwd, 'broker.log')).equals(bytes)).toBe(true);
    expect(await get('broker.log')).toMatchObject({ code: 2, stderr: expect.stringContaining('--force') });
    expect(await get('broker.log', '--force')).toMatchObject({ code: 0 });
    expect(await get('broker.log', '--to', '-')).toMatchObject({ code: 0, stdout: bytes.toString(), stderr: '' });
    expect(await get('broker.log', '--to', 'other.txt')).toMatchObject({ code: 0 });
    expect(await get('broker.log', 'absent.log', '--to', 'no-dir')).toMatchObject({ code: 2 });
    expect(await get('../secret')).toMatchObject({ code: 2 });
    expect(readdirSync(cwd).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});

describe('a node that only answers the contract', () => {
  it('gives its configuration, its list, and what the ends of its files hold', async () => {
    const url = await startLindbNode({ 'lind-broker.log': `cut\n${BROKER_LINES.join('\n')}\n` });
    const cwd = tempDir();
    const ask = (...args: string[]) => runCommand([...args, '--url', url], cwd, ENV);
    const found = await ask('logs', 'lind-broker.log', '-l', 'error', '--log-zone', 'UTC');
    // Not all of the file could be read: its first line is never sent.
    expect(found).toMatchObject({ code: 3, stdout: `${BROKER_RECORDS[3]}\n` });
    expect(found.stderr).toMatch(
      /^porthole: warning: served from the newest \d+ B of \d+ B in 1 file; times read in the zone UTC\n$/,
    );
    const recent = await ask('logs', 'lind-broker.log', '-n', '1', '--log-zone', 'UTC');
    expect(recent).toMatchObject({ code: 0, stderr: '' });
    // It writes nothing from which its zone could be learned.
    const guessed = await ask('logs', 'lind-broker.log', '-n', '1');
    expect(guessed).toMatchObject({ code: 3, stdout: recent.stdout });
    expect(guessed.stderr).toMatch(/; time zone not known: times read in the zone UTC\n$/);
    expect(await ask('logs', 'ls', '-o', 'names')).toMatchObject({ code: 0, stdout: 'lind-broker.log\n', stderr: '' });
    expect((await ask('config', 'get')).stdout).toContain('report-interval = "10s"');
    expect(await ask('logs', 'absent.log')).toMatchObject({ code: 2 });
  });

  it('is followed, and a file that cannot be read is reported beside the others', async () => {
    const lindb = await FakeLindb.start({ 'a.log': `cut\n${BROKER_LINES[0]}\n`, 'b.log': 'cut\nx\n' });
    lindb.unreadable.add('b.log');
    const all = await runCommand(['logs', '--url', lindb.url], tempDir(), ENV);
    expect(all).toMatchObject({ code: 3, stdout: `${BROKER_LINES[0]}\n` });
    expect(all.stderr).toContain('warning: b.log: LOG_FILE_UNREADABLE: b.log cannot be read: failed to open log file');
    const following = new Program(['logs', '-f', 'a.log', '--url', lindb.url], { cwd: tempDir(), env: ENV });
    await eventually(() => expect(following.stdout).toContain(BROKER_LINES[0]));
    lindb.write('a.log', `${BROKER_LINES[1]}\n`);
    await eventually(() => expect(following.stdout).toContain(BROKER_LINES[1]));
    following.kill('SIGINT');
    await following.end();
  });

  it('with no files at all has no records', async () => {
    const url = await startLindbNode({});
    expect(await runCommand(['logs', '--url', url], tempDir(), ENV)).toMatchObject({ code: 1, stdout: '' });
  });
});
