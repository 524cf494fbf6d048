import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { ClusterConfig } from '@porthole/contract';
import { tempDir } from '@porthole/records/testing';
import { SETTING_DEFINITIONS } from '@porthole/server/settings';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Program, runCommand, runToEnd, serve } from './testing/program.ts';

describe('porthole', () => {
  it('without a command shows what it can do', async () => {
    const { code, stdout } = await runToEnd([], tempDir());
    expect(code).toBe(0);
    expect(stdout).toMatch(/serve.*token.*version/s);
  });

  it('help takes the whole path of a command, and lists --version', async () => {
    const cwd = tempDir();
    const [asked, flag] = [
      ['help', 'logs', 'search'],
      ['logs', 'search', '--help'],
    ].map((line) => runCommand(line, cwd));
    expect(await asked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Usage: porthole logs search /) });
    expect(await asked).toEqual(await flag);
    expect((await runCommand(['help'], cwd)).stdout).toMatch(/-V, --version +print the version/);
    expect(await runCommand(['help', 'logs', 'serach'], cwd)).toMatchObject({ code: 2 });
    expect((await runCommand(['--version', '--quiet'], cwd)).stdout).toMatch(/^porthole \d+\.\d+\.\d+ \(node /);
  });

  it.each([
    { args: ['logs', '-f', 'search', 'x'], said: 'error: "porthole logs search" has no flag --follow\n' },
    { args: ['logs', '-o', 'raw', 'digest'], said: 'error: invalid --output "raw" for "porthole logs digest"' },
  ])('refuses $args: a flag before the command is not ignored', async ({ args, said }) => {
    const { code, stderr } = await runCommand(args, tempDir());
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(said) });
  });

  it('serve --help lists every flag with its default, and examples', async () => {
    const { code, stdout } = await runToEnd(['serve', '--help'], tempDir());
    expect(code).toBe(0);
    for (const { flag } of SETTING_DEFINITIONS) expect(stdout).toMatch(new RegExp(`^  ${flag} `, 'm'));
    expect(stdout).toContain('--config <file>');
    expect(stdout).toContain('(default: 7300)');
    expect(stdout).toContain('Examples:');
  });

  it('version prints its own and that of Node.js', async () => {
    const { code, stdout } = await runToEnd(['version'], tempDir());
    expect(code).toBe(0);
    expect(stdout).toMatch(/^porthole \d+\.\d+\.\d+ \(node \d+\.\d+\.\d+\)\n$/);
  });

  it('token gives the line for the file on stdout, and the token on stderr, and they open a node', async () => {
    const cwd = tempDir();
    const { code, stdout, stderr } = await runToEnd(['token', 'ann'], cwd);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ann sha256:[0-9a-f]{64}\n$/);
    const token = /shown only now: (\S+)\n$/.exec(stderr)?.[1] ?? '';
    expect(stdout).not.toContain(token);
    writeFileSync(join(cwd, 'tokens'), stdout);
    const url = await serve(cwd, '--auth-token-file', 'tokens').ready();
    expect((await fetch(`${url}api/v1/config`)).status).toBe(401);
    expect((await fetch(`${url}api/v1/config`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
  });

  it.each([['token'], ['token', 'two words'], ['token', 'x'.repeat(65)]])('refuses %s %s', async (...args) => {
    const { code, stdout, stderr } = await runToEnd(args, tempDir());
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: /);
  });

  it.each([
    { args: ['serve', '--http-prot', '0'], said: 'Did you mean --http-port?' },
    { args: ['serv'], said: 'serve' },
    { args: ['serve', '--http-port', 'eighty'], said: '--http-port' },
    { args: ['serve', '--http-port', '65536'], said: '--http-port' },
    { args: ['serve', '--http-host', '0.0.0.0'], said: 'auth.allow-anonymous' },
    { args: ['serve', '--config', 'absent.toml'], said: 'absent.toml' },
    { args: ['serve', '--log-dir', 'a-file'], said: 'a-file is not a directory' },
    { args: ['serve', '--auth-token-file', 'absent'], said: 'auth.token-file' },
    { args: ['serve', '--tls-cert-file', 'a-file'], said: 'tls.key-file' },
  ])('refuses $args with exit code 2 and says $said', async ({ args, said }) => {
    const cwd = tempDir();
    writeFileSync(join(cwd, 'a-file'), 'text');
    const { code, stdout, stderr } = await runToEnd(args, cwd);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(said);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('refuses a wrong settings file with file, line and what was meant', async () => {
    const cwd = tempDir();
    writeFileSync(join(cwd, 'porthole.toml'), '[http]\n# the port\nprot = 80\n');
    const { code, stderr } = await runToEnd(['serve', '--config', 'porthole.toml'], cwd);
    expect(code).toBe(2);
    expect(stderr).toMatch(/porthole\.toml:3.*did you mean.*port/i);
  });

  it('refuses a port that is taken, and says which flag to use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const { code, stderr } = await runToEnd(['serve', '--http-port', String(port), '--grpc-port', '0'], tempDir());
    expect(code).toBe(2);
    expect(stderr).toMatch(/port \d+ is in use by .*\(process \d+\): choose another one with --http-port N/);
  });

  it('takes flags over environment over file', async () => {
    const cwd = tempDir();
    writeFileSync(
      join(cwd, 'porthole.toml'),
      '[http]\nmax-streams = 1\nmax-url-bytes = 1000\n[node]\nhost-name = "from-file"\n',
    );
    const env = {
      PORTHOLE_CONFIG: 'porthole.toml',
      PORTHOLE_HTTP_MAX_STREAMS: '2',
      PORTHOLE_HTTP_MAX_URL_BYTES: '2000',
    };
    const program = new Program(['serve', '--http-port', '0', '--grpc-port', '0', '--http-max-streams', '3'], {
      cwd,
      env,
    });
    const { configs } = (await (await fetch(`${await program.ready()}api/v1/config/settings`)).json()) as ClusterConfig;
    const origin = (key: string) => configs[0]?.settings?.settings.find((setting) => setting.key === key);
    expect(origin('http.max-streams')).toMatchObject({ value: 3, source: 'flag' });
    expect(origin('http.max-url-bytes')).toMatchObject({ source: 'env' });
    expect(origin('node.host-name')).toMatchObject({ value: 'from-file', source: 'file' });
  });
});
