import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { share, tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Program, runCommand, runToEnd } from './testing/program.ts';

/** The demo, with a directory for what it writes. */
function startDemo(...flags: string[]): { program: Program; tmp: string } {
  const tmp = tempDir();
  const args = ['demo', '--http-port', '0', '--grpc-port', '0', ...flags];
  return { program: new Program(args, { cwd: tmp, env: { TMPDIR: tmp } }), tmp };
}

async function fetchJson<T>(url: string, path: string): Promise<T> {
  return (await (await fetch(url + path)).json()) as T;
}

/** Three nodes that write nothing new. */
const quiet = share(async () => {
  const { program, tmp } = startDemo('--rate', '0');
  return { url: await program.ready(), tmp };
});

describe('porthole demo', () => {
  it('shows nodes with some hours of logs and masked secrets, which know each other; one is sick and configured differently', async () => {
    const { url, tmp } = quiet();
    const { config } = await fetchJson<{ config: string }>(url, 'api/v1/config');
    expect(config).toContain('password = "******"');
    expect(config).not.toContain('made-up-pass');
    const list = await fetchJson<{ name: string }[]>(url, 'api/v1/log/list');
    expect(list.map(({ name }) => name.replace(/-\d{4}.*?\.log/, '-STAMP.log'))).toEqual([
      'access-STAMP.log',
      'access.log',
      'lind-broker-STAMP.log.gz',
      'lind-broker-STAMP.log.gz',
      'lind-broker-STAMP.log',
      'lind-broker.log',
      'show_sql.log',
      'task.log',
    ]);
    const { buckets } = await fetchJson<{ buckets: { startMs: number }[] }>(url, 'api/v1/log/histogram?bucket=1h');
    expect(buckets.length).toBeGreaterThanOrEqual(6);

    const ask = (...words: string[]) => runCommand([...words, '--url', url], tmp, { TZ: 'UTC' });
    expect(await ask('nodes', '-o', 'names')).toMatchObject({
      code: 0,
      stdout: 'demo-broker-1\ndemo-broker-2\ndemo-broker-3\n',
    });
    const { code, stdout } = await ask('config', 'diff');
    expect(code).toBe(1);
    expect(stdout).toMatch(/storage\.wal\.volume +"data" +"scratch" +demo-broker-2\n/);
    expect(stdout).toMatch(/query\.idle-timeout +"5s" +"5000ms" \(equivalent\) +demo-broker-3\n/);
    const digest = await ask('logs', 'digest', '*:lind-broker.log', '-l', 'error', '-n', '1');
    expect(digest).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ +\d+ +demo-broker-2 \d+/m) });
  });

  it('has an incident behind it, which one command explains', async () => {
    const { url, tmp } = quiet();
    let stdout = '';
    // On a busy machine, three nodes in one process do not respond in time now and then, and the report says so.
    await eventually(async () => {
      const report = await runCommand(['incident', '--url', url], tmp, { TZ: 'UTC' });
      expect(report.code).toBe(0);
      ({ stdout } = report);
    });
    expect(stdout).toMatch(
      /New errors on 2 nodes, first on demo-broker-2, .* after its storage\.wal\.volume changed\n/,
    );
    const story = [
      'storage.wal.volume: "data" → "scratch"',
      'ERROR append to volume scratch failed',
      'It spread to demo-broker-3',
      'FATAL the write-ahead log cannot be written any more, giving up',
      'demo-broker-2 was killed',
    ].map((step) => stdout.indexOf(step));
    expect(story).toEqual(story.toSorted((a, b) => a - b));
    expect(story).not.toContain(-1);
  });

  it('of one node is alone', async () => {
    const { program, tmp } = startDemo('--rate', '0', '--nodes', '1');
    const url = await program.ready();
    const nodes = await runCommand(['nodes', '-o', 'names', '--url', url], tmp);
    expect(nodes).toMatchObject({ code: 0, stdout: 'demo-broker-1\n', stderr: '' });
  });

  it('writes on, and rotates', async () => {
    const { program } = startDemo('--rate', '20000', '--nodes', '1');
    const url = await program.ready();
    const rotated = async () => {
      const list = await fetchJson<{ name: string }[]>(url, 'api/v1/log/list');
      return list.filter(({ name }) => /^lind-broker-.*\.gz$/.test(name)).length;
    };
    await eventually(async () => expect(await rotated()).toBeGreaterThan(2));
  });

  it.each([
    ['SIGINT', '1'],
    ['SIGTERM', '3'],
  ] as const)('ends at %s with exit code 0, and removes what it wrote', async (signal, nodes) => {
    const { program, tmp } = startDemo('--nodes', nodes);
    const url = await program.ready();
    expect(readdirSync(tmp)).toHaveLength(1);
    await eventually(() => expect(program.stderr).toContain('Ctrl-C stops the demo'));
    program.kill(signal);
    const { code, stdout, stderr } = await program.end();
    expect({ code, stdout }).toEqual({ code: 0, stdout: `porthole is ready at ${url}\n` });
    expect(stderr).toContain(`porthole logs -f -l warn --url ${url.slice(0, -1)}\n`);
    expect(readdirSync(tmp)).toEqual([]);
  });

  it('reports a port in use as serve does, and leaves nothing behind', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const tmp = tempDir();
    const flags = ['--http-port', String(port), '--grpc-port', '0'];
    const demo = await runToEnd(['demo', ...flags], tmp, { TMPDIR: tmp });
    const serve = await runToEnd(['serve', ...flags], join(tempDir()));
    expect(demo).toEqual(serve);
    expect(demo.code).toBe(2);
    expect(readdirSync(tmp)).toEqual([]);
  });

  it.each([
    ['--rate', 'many'],
    ['--rate', '1.'],
    ['--rate', '100001'],
    ['--nodes', '0'],
    ['--nodes', '21'],
    ['--http-port', '65536'],
  ])('refuses %s %s', async (...flags) => {
    const tmp = tempDir();
    const { code, stdout, stderr } = await runCommand(['demo', ...flags], tmp, { TMPDIR: tmp });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(flags[0]);
    expect(readdirSync(tmp)).toEqual([]);
  });
});
