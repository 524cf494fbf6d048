import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { startLindbNode } from './testing/lindb-node.ts';
import { runCommand, runToEnd, serve } from './testing/program.ts';
import { runOnTerminal } from './testing/pseudo-terminal.ts';

const A = `# The broker.
[http]
# Where it listens.
port = 9000
hosts = ["a", "b"] # two

[user]
name = "admin"
password = "hunter-two"
`;

const B = `[http]
port = "9000"
hosts = ["a", "c"]
idle = 5

[user]
name = "admin"
password = "other-pass"
`;

const A_SHOWN = A.replace('hunter-two', '******');

function withFiles(): string {
  const cwd = tempDir();
  writeFileSync(join(cwd, 'a.toml'), A);
  writeFileSync(join(cwd, 'b.toml'), B);
  return cwd;
}

describe('porthole config get', () => {
  it('of a file gives its text as it is, but for the secrets', async () => {
    const outcome = await runToEnd(['config', 'get', 'a.toml'], withFiles());
    expect(outcome).toEqual({ code: 0, signal: null, stdout: A_SHOWN, stderr: '' });
  });

  it.each([
    [['http.port'], '# The broker.\n[http]\n# Where it listens.\nport = 9000\n'],
    [['user', '-o', 'flat'], 'user.name = "admin"\nuser.password = "******"\n'],
    [['http.hosts', 'user.name', '-o', 'flat'], 'http.hosts = ["a","b"]\nuser.name = "admin"\n'],
    [['user.name', '-o', 'value'], 'admin\n'],
    [['"user".name', 'http.hosts', '-o', 'value'], 'admin\n["a","b"]\n'],
    [
      ['http', '-o', 'json'],
      '{\n  "http": {\n    "port": 9000,\n    "hosts": [\n      "a",\n      "b"\n    ]\n  }\n}\n',
    ],
  ])('of a file with %j gives only that', async (words, stdout) => {
    const outcome = await runCommand(['config', 'get', './a.toml', ...words], withFiles());
    expect(outcome).toEqual({ code: 0, signal: null, stdout, stderr: '' });
  });

  it('of a file in another format gives TOML, a key of it, or its own text', async () => {
    const cwd = tempDir();
    const text = '# the cache\nport 6379\nrequirepass hunter-two\n';
    writeFileSync(join(cwd, 'redis.conf'), text);
    const outputs = [
      [['redis.conf'], 'port = 6379\nrequirepass = "******"\n'],
      [['redis.conf', 'port', '-o', 'value'], '6379\n'],
      [['redis.conf', '-o', 'source'], text.replace('hunter-two', '******')],
    ] as const;
    for (const [words, stdout] of outputs)
      expect(await runCommand(['config', 'get', ...words], cwd)).toMatchObject({ code: 0, stdout, stderr: '' });
    const { code, stderr } = await runCommand(['config', 'get', 'redis.conf', 'port', '-o', 'source'], cwd);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'porthole: -o source prints the whole text and takes no keys\n',
    });
  });

  it('reports an unknown key with the nearest names and exit code 1, after printing the known ones', async () => {
    expect(await runCommand(['config', 'get', 'a.toml', 'user', '-o', 'value'], withFiles())).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'porthole: user is a table; -o value needs keys of values\n',
    });
    const outcome = await runCommand(['config', 'get', 'a.toml', 'http.prot', 'user.name', '-o', 'flat'], withFiles());
    expect(outcome).toEqual({
      code: 1,
      signal: null,
      stdout: 'user.name = "admin"\n',
      stderr: 'porthole: no key or table http.prot in the configuration of a.toml; did you mean http.port?\n',
    });
  });

  it('of a node prints what the node returns', async () => {
    const cwd = withFiles();
    const url = await serve(cwd, '--service-config', 'a.toml').ready();
    expect(await runCommand(['config', 'get', url], cwd)).toEqual({
      code: 0,
      signal: null,
      stdout: A_SHOWN,
      stderr: '',
    });
    const byFlag = await runCommand(['config', 'get', '--url', url, 'http.port', '-o', 'flat'], cwd);
    expect(byFlag.stdout).toBe('http.port = 9000\n');
    const byVariable = await runCommand(['config', 'get', 'http.port', '-o', 'flat'], cwd, { PORTHOLE_URL: url });
    expect(byVariable.stdout).toBe('http.port = 9000\n');
  });

  it('of a node that shows itself gives the settings it runs with', async () => {
    const cwd = tempDir();
    const url = await serve(cwd).ready();
    const { code, stdout } = await runCommand(['config', 'get', url, 'http.max-streams', '-o', 'flat'], cwd);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'http.max-streams = 128\n' });
  });

  it('masks the secrets of a node that does not', async () => {
    const url = await startLindbNode({}, `[etcd]\n## Default: "s3cret-pw"\npassword = "s3cret-pw"\n`);
    const { code, stdout } = await runCommand(['config', 'get', url], tempDir());
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: '[etcd]\n## Default: "******"\npassword = "******"\n',
    });
  });

  it('fails with exit code 2 without a node, a file or valid TOML', async () => {
    const cwd = tempDir();
    writeFileSync(join(cwd, 'broken.toml'), 'a = 1\npassword = hunter-two\n');
    const unreachable = await runCommand(['config', 'get', 'http://127.0.0.1:1'], cwd);
    expect(unreachable).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Is the node running?') });
    expect(await runCommand(['config', 'get', './absent.toml'], cwd)).toEqual({
      code: 2,
      signal: null,
      stdout: '',
      stderr:
        'porthole: no such file ./absent.toml; name a node by its URL (http://127.0.0.1:7300) or a node of the cluster with a colon (broker-1:)\n',
    });
    expect(await runCommand(['config', 'get', 'broken.toml'], cwd)).toEqual({
      code: 2,
      signal: null,
      stdout: '',
      stderr: expect.stringMatching(
        /^porthole: cannot show the configuration of broken\.toml: not valid TOML \(line 2, column \d+\)\n$/,
      ),
    });
  });

  it('colours keys and dims comments on a terminal, unless asked not to', async () => {
    const cwd = withFiles();
    const { code, output } = await runOnTerminal(['config', 'get', 'a.toml', 'http.port'], { cwd });
    expect({ code, output }).toEqual({
      code: 0,
      output:
        '\u001b[2m# The broker.\u001b[22m\n[\u001b[1m\u001b[36mhttp\u001b[39m\u001b[22m]\n' +
        '\u001b[2m# Where it listens.\u001b[22m\n\u001b[36mport\u001b[39m = 9000\n',
    });
    const plain = await runOnTerminal(['config', 'get', 'a.toml'], { cwd, env: { NO_COLOR: '1' } });
    expect(plain).toEqual({ code: 0, output: A_SHOWN });
    const never = await runOnTerminal(['config', 'get', 'a.toml', '--color', 'never'], { cwd });
    expect(never.output).toBe(A_SHOWN);
    const forced = await runCommand(['config', 'get', 'a.toml', 'user.name', '-o', 'flat'], cwd, { FORCE_COLOR: '1' });
    expect(forced.stdout).toBe('\u001b[36muser.name\u001b[39m = "admin"\n');
  });

  it('lets nothing in a configuration drive the terminal', async () => {
    const cwd = tempDir();
    writeFileSync(join(cwd, 'c.toml'), 'a = "\u009b31m\u202e"\r\n');
    const shown = await runOnTerminal(['config', 'get', 'c.toml'], { cwd, env: { NO_COLOR: '1' } });
    expect(shown.output).toBe('a = "\\x9b31m\\u202e"\n');
    expect((await runCommand(['config', 'get', 'c.toml'], cwd)).stdout).toBe('a = "\u009b31m\u202e"\r\n');
  });
});

const MASKED = 'porthole: 1 key not compared (secret on both sides): user.password\n';

describe('porthole config diff', () => {
  it('prints the keys that differ, with exit code 1', async () => {
    expect(await runToEnd(['config', 'diff', 'a.toml', 'b.toml'], withFiles())).toEqual({
      code: 1,
      signal: null,
      stdout: [
        'key         a.toml     b.toml',
        'http.hosts  ["a","b"]  ["a","c"]',
        'http.idle   (missing)  5',
        'http.port   9000       "9000"',
        '',
      ].join('\n'),
      stderr: MASKED,
    });
  });

  it('prints nothing for equal ones except what was not compared', async () => {
    const outcome = await runCommand(['config', 'diff', 'a.toml', './a.toml'], withFiles());
    expect(outcome).toEqual({ code: 0, signal: null, stdout: '', stderr: MASKED });
  });

  it('as JSON lists differences, and what could not be compared', async () => {
    const { code, stdout } = await runCommand(['config', 'diff', 'a.toml', 'b.toml', '-o', 'json'], withFiles());
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      a: 'a.toml',
      b: 'b.toml',
      equal: false,
      differences: [
        { key: 'http.hosts', a: ['a', 'b'], b: ['a', 'c'] },
        { key: 'http.idle', b: 5 },
        { key: 'http.port', a: 9000, b: '9000' },
      ],
      uncomparable: ['user.password'],
    });
  });

  it('as a unified diff says what diff says of the flat lists', async () => {
    const cwd = withFiles();
    for (const name of ['a', 'b']) {
      const { stdout } = await runCommand(['config', 'get', `${name}.toml`, '-o', 'flat'], cwd);
      writeFileSync(join(cwd, `${name}.flat`), `${stdout.trim().split('\n').sort().join('\n')}\n`);
    }
    const labels = ['--label', 'a.toml', '--label', 'b.toml'];
    const wanted = runForOutput('diff', ['-u', ...labels, 'a.flat', 'b.flat'], cwd);
    const { code, stdout } = await runCommand(['config', 'diff', 'a.toml', 'b.toml', '-o', 'unified'], cwd);
    expect({ code, stdout }).toEqual({ code: 1, stdout: wanted });
    const { stdout: coloured } = await runCommand(
      ['config', 'diff', 'a.toml', 'b.toml', '-o', 'unified', '--color'],
      cwd,
    );
    expect(coloured).toContain('\u001b[31m-http.port = 9000\u001b[39m\n');
  });

  it('compares a node with a file, and two nodes', async () => {
    const cwd = withFiles();
    const url = (await serve(cwd, '--service-config', 'a.toml').ready()).replace(/\/$/, '');
    expect((await runCommand(['config', 'diff', url, 'a.toml'], cwd)).code).toBe(0);
    const lindb = await startLindbNode({}, B);
    const { code, stdout } = await runCommand(['config', 'diff', url, lindb, '-o', 'json'], cwd);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ a: url, b: lindb, uncomparable: ['user.password'] });
    expect(stdout).not.toMatch(/hunter-two|other-pass/);
  });

  it('needs both: one that cannot be read is exit code 2', async () => {
    const outcome = await runCommand(['config', 'diff', 'a.toml', 'http://127.0.0.1:1'], withFiles());
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toContain('http://127.0.0.1:1');
    expect((await runCommand(['config', 'diff', 'a.toml'], withFiles())).code).toBe(2);
  });

  it('stands below one another what does not fit a narrow terminal, without losing a letter', async () => {
    const cwd = withFiles();
    const env = { NO_COLOR: '1' };
    const { code, output } = await runOnTerminal(['config', 'diff', 'a.toml', 'b.toml'], { cwd, env, columns: 28 });
    expect({ code, output: output.replace(MASKED, '') }).toEqual({
      code: 1,
      output: [
        '- a.toml\n+ b.toml\n',
        'http.hosts\n  - ["a","b"]\n  + ["a","c"]',
        'http.idle\n  - (missing)\n  + 5',
        'http.port\n  - 9000\n  + "9000"\n',
      ].join('\n'),
    });
    const wide = await runOnTerminal(['config', 'diff', 'a.toml', 'b.toml'], { cwd, env, columns: 60 });
    expect(wide.output).toContain('http.port   9000       "9000"\n');
  });
});

/** `diff` reports a difference by exit code 1, which is not a failure. */
function runForOutput(program: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8' });
  } catch (error) {
    return String((error as { stdout: string }).stdout);
  }
}

describe('porthole config init', () => {
  it('writes a file that a node starts with, and the schema that it names', async () => {
    const cwd = tempDir();
    const first = await runToEnd(['config', 'init'], cwd);
    expect(first).toMatchObject({ code: 0, stdout: 'porthole.toml\n' });
    const text = readFileSync(join(cwd, 'porthole.toml'), 'utf8');
    const [, schema = ''] = /^#:schema (\S+)\n/.exec(text) ?? [];
    expect(JSON.parse(readFileSync(join(cwd, schema), 'utf8'))).toMatchObject({
      properties: { http: expect.any(Object) },
    });
    expect(text).toMatch(/\n#port = 7300\n/);
    expect((await runToEnd(['config', 'init', '-'], cwd)).stdout).toBe(text);
    writeFileSync(join(cwd, 'porthole.toml'), text.replace('#host-name = ""', 'host-name = "ours"'));
    const again = await runToEnd(['config', 'init'], cwd);
    expect(again).toMatchObject({ code: 2, stderr: 'porthole: porthole.toml exists already; --force replaces it\n' });
    const node = serve(cwd, '--config', 'porthole.toml');
    const { stdout } = await runToEnd(['config', 'get', await node.ready(), 'node.host-name', '-o', 'value'], cwd);
    expect(stdout).toBe('ours\n');
    expect((await runToEnd(['config', 'init', '--force', '-q'], cwd)).code).toBe(0);
    expect(readFileSync(join(cwd, 'porthole.toml'), 'utf8')).toBe(text);
  });
});
