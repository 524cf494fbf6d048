import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startTestEtcd } from '@porthole/cluster/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sourceFiles } from '../scripts/source-files.mjs';
import { describeRelease } from './testing/release-cases.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '..');

/**
 * No fixed port: several checkouts may be tested at once. No further authorities, which nothing here needs: reading them
 * is most of what a Node.js that starts does.
 */
const env = {
  ...process.env,
  PORTHOLE_HTTP_PORT: '0',
  PORTHOLE_GRPC_PORT: '0',
  NODE_EXTRA_CA_CERTS: undefined,
};

/** The umask of whoever builds here: nobody else may read it. The release is compared with one of a checkout that everybody reads. */
const UMASK = '077';

const FOUND_BY_NPX = 'node_modules/.bin/porthole';

let work: string;
let checkout: string;
let commands: string[];
const running: ChildProcess[] = [];

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'porthole-readme-'));
  checkout = join(work, 'a deeper/other place');
  await copySources(checkout);
  // As after an installation, which takes a third of the time of this file: test/install.system.test.ts tests that.
  await copyPackages(join(checkout, 'node_modules'));
  commands = shellCommands(await readFile(join(root, 'README.md'), 'utf8'));
});

afterAll(async () => {
  for (const child of running) end(child, 'SIGKILL');
  await rm(work, { recursive: true, force: true });
});

/** The README's commands are run one after the other, as a newcomer would, in a checkout with nothing built. */
describe('the README in a fresh checkout', () => {
  let url: string;
  let node: ChildProcess;

  it('npm start builds and runs a node that shows itself', async () => {
    expect(commands[0], 'the first command works on a machine that has nothing of ours').toBe('npm start');
    take('npm start');
    const started = await serve('sh', ['-c', `umask ${UMASK} && exec npm start`]);
    ({ url, child: node } = started);
    expect(started.output()).toContain('building (first run)');
    const page = await (await fetch(url)).text();
    const script = /<script type="module" src="([^"]+)">/.exec(page)?.[1] ?? '';
    expect((await fetch(new URL(script, url))).headers.get('content-type')).toContain('text/javascript');
    const log = await (await fetch(`${url}api/v1/log/view?file=porthole.log`)).text();
    expect(log).toContain('the node is ready');
    const demo = /<meta name="porthole-demo" content="([^"]+)">/.exec(page)?.[1] ?? '';
    expect(await (await fetch(`${demo}api/v1/nodes`)).json()).toMatchObject({ nodes: { length: 3 } });
  });

  it('every curl command answers', async () => {
    const curls = commands.filter((command) => command.startsWith('curl '));
    expect(curls.length).toBeGreaterThanOrEqual(5);
    await Promise.all(
      curls.map(async (command) => {
        take(command);
        const { stdout } = await shell(command.replaceAll('http://127.0.0.1:7300/', url));
        if (!command.includes(' -O ')) expect(stdout.length, command).toBeGreaterThan(0);
      }),
    );
    expect((await readFile(join(checkout, 'porthole.log'))).length).toBe(100);
  });

  it('every command that asks a node or a file answers', async () => {
    const asking = commands.filter((command) => /^npx porthole (logs|config|doctor|nodes)/.test(command));
    expect(asking.length).toBeGreaterThanOrEqual(5);
    await Promise.all(
      asking.map(async (command) => {
        take(command);
        const { stdout } = await shell(`PORTHOLE_URL=${url} ${asFound(command)}`);
        // One node differs from nobody.
        if (!command.endsWith('config diff')) expect(stdout.length, command).toBeGreaterThan(0);
      }),
    );
  });

  it('npx porthole serve with an etcd joins the cluster there', async () => {
    const { url: etcd } = await startTestEtcd();
    const command = take('npx porthole serve --cluster-etcd http://127.0.0.1:2379');
    const { url: address, child } = await serve('sh', ['-c', `exec ${command.replace('http://127.0.0.1:2379', etcd)}`]);
    const { membership } = (await (await fetch(`${address}api/v1/nodes`)).json()) as { membership: object };
    expect(membership).toMatchObject({ kind: 'etcd', state: 'ok' });
    end(child, 'SIGTERM');
  });

  it('npx porthole demo shows a made-up node', async () => {
    const command = `${asFound(take('npx porthole demo'))} --http-port 0 --grpc-port 0`;
    const { url: address, child } = await serve('sh', ['-c', `exec ${command}`]);
    const list = (await (await fetch(`${address}api/v1/log/list`)).json()) as unknown[];
    expect(list.length).toBeGreaterThan(3);
    end(child, 'SIGTERM');
  });

  it('a second npm start installs and builds nothing', async () => {
    end(node, 'SIGTERM');
    const { child, output } = await serve('npm', ['start']);
    expect(output()).not.toMatch(/installing|building/);
    end(child, 'SIGTERM');
  });

  it('npm test runs tests and ends with their number', async () => {
    take('npm test');
    // The whole of it would run this very test again, so it is given one small suite.
    const { stdout } = await shell('npm test -- test/layers.test.ts');
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^[1-9]\d* passed, 0 failed$/);
  });

  it('npx porthole serve shows the directory and the file it is pointed at', async () => {
    const command = take('npx porthole serve --log-dir /var/log/lindb --service-config /etc/lindb/broker.toml');
    await mkdir(join(work, 'lindb'));
    await writeFile(join(work, 'lindb', 'lind-broker.log'), 'one line\n');
    await writeFile(join(work, 'broker.toml'), 'password = "hush-hush"\nport = 9000\n');
    const pointed = asFound(command)
      .replace('/var/log/lindb', join(work, 'lindb'))
      .replace('/etc/lindb/broker.toml', join(work, 'broker.toml'));
    const { url: address, child } = await serve('sh', ['-c', `exec ${pointed}`]);
    expect(await (await fetch(`${address}api/v1/log/list`)).json()).toEqual([{ name: 'lind-broker.log', size: 9 }]);
    const { config } = (await (await fetch(`${address}api/v1/config`)).json()) as { config: string };
    expect(config).toBe('password = "******"\nport = 9000\n');
    end(child, 'SIGTERM');
  });

  it('a token made as shown opens a node that listens to other machines', async () => {
    const { stderr } = await shell(asFound(take('npx porthole token ops >> tokens')));
    const token = stderr.trim().split(' ').at(-1);
    const command = asFound(take('npx porthole serve --http-host 0.0.0.0 --auth-token-file tokens'));
    const { url: address, child } = await serve('sh', ['-c', `exec ${command}`]);
    const list = `http://127.0.0.1:${new URL(address).port}/api/v1/log/list`;
    expect((await fetch(list)).status).toBe(401);
    expect((await fetch(list, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    end(child, 'SIGTERM');
  });

  // That of the README runs in e2e/packages.system.test.ts, with the package as it is installed.
  it('the embedding example in examples/ runs', async () => {
    const { url: address, child } = await serve('node_modules/.bin/tsx', ['examples/embedded-service.ts']);
    const { config, node: self } = (await (await fetch(`${address}api/v1/config`)).json()) as ConfigResponse;
    expect(config).toBe('database = "postgres://shop:******@db.example.org/orders"\n\n[orders]\nper-second = 5\n');
    expect(self.version).toBe('2.4.0');
    expect(await (await fetch(`${address}api/v1/log/view?file=porthole.log`)).text()).toContain(
      '[orders] [order]: an order was taken',
    );
    end(child, 'SIGTERM');
  });

  it('holds no command that was not run here', () => {
    expect(commands).toEqual([]);
  });

  describeRelease(() => checkout);
});

interface ConfigResponse {
  config: string;
  node: { version: string };
}

/** Strikes a command off the list; it must stand in the README exactly so. */
function take(command: string): string {
  expect(commands).toContain(command);
  commands = commands.filter((other) => other !== command);
  return command;
}

/** What npx finds, which takes longer to find than to run; that it finds it is shown by the node that joins a cluster. */
function asFound(command: string): string {
  return command.replaceAll('npx porthole', FOUND_BY_NPX);
}

function shellCommands(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.split('\n'));
  return blocks.map((line) => line.replace(/\s+#.*$/, '').trim()).filter((line) => line !== '');
}

/** What git would put into a clone of the tree as it is now. */
async function copySources(target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  const copy = ['-c', `umask ${UMASK} && exec cp --parents -t "$@"`, 'sh', target, ...sourceFiles()];
  await execute('sh', copy, { cwd: root });
}

/** Links where the file system can: nothing there is written to, except what tests leave for later runs. */
async function copyPackages(target: string): Promise<void> {
  const from = join(root, 'node_modules');
  await execute('cp', ['-al', from, target]).catch(async () => {
    await rm(target, { recursive: true, force: true });
    await execute('cp', ['-a', from, target]);
  });
  const kept = (await readdir(target)).filter((name) => name.startsWith('.vite') || name === '.cache');
  for (const name of kept) await rm(join(target, name), { recursive: true });
}

function shell(command: string): Promise<{ stdout: string; stderr: string }> {
  return execute('sh', ['-c', command], { cwd: checkout, env, maxBuffer: 64 * 1024 * 1024 });
}

/** npm and npx start processes of their own: the signal goes to the whole group. */
function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-(child.pid ?? 0), signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Starts something that prints its URL when it is ready. */
function serve(command: string, args: string[]): Promise<{ url: string; child: ChildProcess; output: () => string }> {
  const child = spawn(command, args, { cwd: checkout, env, detached: true });
  running.push(child);
  let output = '';
  return new Promise((resolve, reject) => {
    const onData = (data: Buffer) => {
      output += data.toString();
      const url = /(?<!demo cluster is at )https?:\/\/\S+:\d+\//.exec(output)?.[0];
      if (url) resolve({ url, child, output: () => output });
    };
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
    child.on('exit', (code) => reject(new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output}`)));
  });
}
