import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { startTestNode } from '@porthole/server/testing';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { describeEmbedding } from './testing/embedding-cases.ts';
import { Program } from './testing/program.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '..');

const FOUND_BY_NPX = 'node_modules/.bin/porthole';

let work: string;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'porthole-packages-'));
  // By one npm: starting it takes longer than packing. The first builds both.
  const options = ['--pack-destination', work, '--json'];
  const { stdout } = await npm(root, 'pack', './packages/cli', './packages/client', ...options);
  const packed = JSON.parse(stdout.slice(stdout.indexOf('['))) as { name: string; filename: string }[];
  for (const { name, filename } of packed) await installPacked(name === 'porthole' ? 'cli' : 'client', filename);
});

async function installPacked(name: string, filename: string): Promise<void> {
  const project = join(work, name);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "name": "user", "private": true, "type": "module" }\n');
  await npm(project, 'install', '--no-audit', '--no-fund', '--prefer-offline', join(work, filename));
}

afterAll(() => rmSync(work, { recursive: true, force: true }));

function npm(cwd: string, ...args: string[]) {
  return execute('npm', ['--loglevel=error', ...args], { cwd });
}

/** Every file of an installed package, with its text. */
function readPackageFiles(project: string, name: string): { path: string; text: string }[] {
  const folder = join(work, project, 'node_modules', name);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: path.slice(folder.length + 1), text: readFileSync(path, 'utf8') }));
}

/** Type-checks programs of a user: with the types of Node.js, or in a browser without them. */
async function typeCheck(
  project: string,
  sources: Readonly<Record<string, string>>,
  moduleResolution: 'node16' | 'nodenext' | 'bundler',
): Promise<string> {
  const files = Object.entries(sources).map(([name, source]) => {
    const file = join(work, project, `${name}${moduleResolution === 'node16' ? '.cts' : '.ts'}`);
    writeFileSync(file, source);
    return file;
  });
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2023,dom,dom.asynciterable'];
  // It has ended before collecting its garbage pays, and several checkers would check the same libraries once each.
  const lean = ['--checkers', '1'];
  const env = { ...process.env, GOGC: 'off' };
  const resolution = [
    '--module',
    moduleResolution === 'bundler' ? 'esnext' : moduleResolution,
    '--moduleResolution',
    moduleResolution,
  ];
  const nodeTypes = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node'];
  const types =
    moduleResolution === 'bundler' ? ['--typeRoots', join(work, 'none'), '--skipLibCheck', 'false'] : nodeTypes;
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const args = [compiler, ...options, ...lean, ...resolution, ...types, ...files];
  return execute(process.execPath, args, { cwd: join(work, project), env }).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}

describe.each([
  { project: 'client', name: '@porthole/client', mostBytes: 520_000 },
  { project: 'cli', name: 'porthole', mostBytes: 9_500_000 },
])('the package $name', ({ project, name, mostBytes }) => {
  it('is small, and holds no source, no test and no path into this checkout', () => {
    const files = readPackageFiles(project, name);
    const wrong = files.filter(
      ({ path, text }) =>
        /(^|\/)(src|testing)\/|\.test\.|(?<!\.d)\.ts$|tsbuildinfo|\.map$/.test(path) || text.includes(root),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
    expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']));
    expect(files.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(mostBytes);
  });

  it('imports nothing that is not in it or installed with it, code and types', () => {
    const files = readPackageFiles(project, name);
    const { dependencies = {} } = JSON.parse(files.find(({ path }) => path === 'package.json')?.text ?? '') as {
      dependencies?: object;
    };
    const imported = files
      .filter(({ path }) => /\.(js|d\.c?ts)$/.test(path) && !path.includes('console/'))
      .flatMap(({ text }) => [...text.matchAll(/^(?:import|export) .*\bfrom ['"]([^'".][^'"]*)['"]/gm)])
      .map(([, path = '']) =>
        path
          .split('/')
          .slice(0, path.startsWith('@') ? 2 : 1)
          .join('/'),
      );
    const wrong = imported.filter((path) => !isBuiltin(path) && !Object.hasOwn(dependencies, path));
    // What others give to the plugins, in their own programs.
    expect([...new Set(wrong)]).toEqual([]);
  });

  it('and all that it needs are at most 25 MB, without a script that would run at installation', async () => {
    const installed = readPackageFiles(project, '');
    expect(installed.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(25_000_000);
    const manifests = installed.filter(({ path }) => /(^|\/)package\.json$/.test(path));
    const scripts = manifests.flatMap(({ text }) =>
      Object.keys((JSON.parse(text) as { scripts?: object }).scripts ?? {}),
    );
    expect(scripts.filter((script) => /^(pre|post)?install$/.test(script))).toEqual([]);
  });

  it('is one that other tools can use', async () => {
    const { messages } = await publint({ pkgDir: join(work, project, 'node_modules', name), pack: false });
    expect(messages).toEqual([]);
  });
});

describe('the SDK in an empty project', () => {
  const source = `
    import { createClient, ClientError, type FoundRecord, type Client } from '@porthole/client';
    const node: Client = createClient({ url: process.argv[2] ?? '' });
    const messages: string[] = [];
    for await (const record of node.records({ order: 'oldest', minLevel: 'INFO' }))
      messages.push((record satisfies FoundRecord).message);
    const code = await node.listLogs().then((list) => list.length, (error: unknown) => (error instanceof ClientError ? error.code : ''));
    console.log(JSON.stringify({ messages, code }));
  `;

  it('has no dependencies', () => {
    expect(readdirSync(join(work, 'client/node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      '@porthole',
    ]);
    expect(readdirSync(join(work, 'client/node_modules/@porthole'))).toEqual(['client']);
  });

  it.each(['nodenext', 'bundler'] as const)('has types that hold with %s', async (resolution) => {
    // Bundlers are for browsers, which have no types of Node.js.
    const right = resolution === 'bundler' ? source.replace("process.argv[2] ?? ''", 'location.href') : source;
    const wrong = right.replace("order: 'oldest'", "order: 'sideways'");
    const found = await typeCheck('client', { right, wrong }, resolution);
    // One error, in the program that is wrong.
    expect(found.match(/error TS\d+/g)).toHaveLength(1);
    expect(found).toMatch(/^wrong\.ts.*sideways/);
  });

  it('asks a node', async () => {
    const { running } = await startTestNode({
      files: { 'a.log': '2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: hello\n' },
    });
    const file = join(work, 'client', 'user.mjs');
    writeFileSync(
      file,
      source
        .replace(/import \{[^}]*\}/, 'import { createClient, ClientError }')
        .replace(/: Client|: string\[\]| satisfies FoundRecord|: unknown/g, ''),
    );
    const { stdout } = await execute(process.execPath, [file, running.url]);
    expect(JSON.parse(stdout)).toEqual({ messages: ['hello'], code: 1 });
  });
});

describe('the program in an empty project', () => {
  it('npx porthole serve runs a node with its console, and porthole logs asks it', async () => {
    const cwd = join(work, 'cli');
    const program = new Program(['porthole', 'serve', '--http-port', '0', '--grpc-port', '0'], { cwd, command: 'npx' });
    const url = await program.ready();
    // What npx finds: running it directly takes a third of the time.
    const { stdout } = await execute(FOUND_BY_NPX, ['logs', '-g', 'ready', '-n', '1', '--url', url], { cwd });
    expect(stdout).toContain('the node is ready');
    // The source location is the one that was written, not one of the bundle.
    expect(stdout).toMatch(/\tserver\/open-node\.ts:\d+\t/);
    // From its threads: the worker is a file of its own.
    const found = await execute(FOUND_BY_NPX, ['logs', 'search', 'ready', 'data/log', '-n', '1'], { cwd });
    expect(found.stdout).toContain('the node is ready');
    const scripts = [...((await fetch(url)).headers.get('link') ?? '').matchAll(/<([^>]+\.js)>/g)];
    const replies = await Promise.all(
      scripts.map(([, script = '']) => fetch(new URL(script, url), { headers: { 'accept-encoding': 'br' } })),
    );
    for (const { headers } of replies)
      expect(Object.fromEntries(headers)).toMatchObject({ 'content-type': 'text/javascript; charset=utf-8' });
    expect(replies.map(({ headers }) => headers.get('content-encoding'))).toContain('br');
    const texts = await Promise.all(replies.map((reply) => reply.text()));
    expect(texts.join('').length).toBeGreaterThan(50_000);
    expect(await (await fetch(`${url}assets/licences.txt`)).text()).toMatch(/^preact$/m);
    program.kill('SIGTERM');
    await program.end();
  });

  it('npx porthole mcp answers an assistant', async () => {
    const transport = new StdioClientTransport({ command: join(work, 'cli', FOUND_BY_NPX), args: ['mcp'] });
    const client = new Client({ name: 'test', version: '1' });
    onTestFinished(() => client.close());
    await client.connect(transport);
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
  });

  const example = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1] ?? '';
  const source = `
    import { startNode, type RunningNode } from 'porthole';
    const node: RunningNode = await startNode({ settings: { http: { port: 0 }, grpc: { port: 0 } }, config: () => 'a = 1' });
    console.log((await node.state.config()).config);
    await node.stop();
  `;

  it('has types for embedding it', async () => {
    expect(await typeCheck('cli', { example, source }, 'nodenext')).toBe('');
  });

  it('has types for CommonJS, too, which node16 does not let import modules', async () => {
    const imports = (from: string, names: string) => `import { ${names} } from '${from}';\n`;
    const cli = imports('porthole', 'createNode, type EmbeddedNode') + imports('porthole/winston', 'PortholeTransport');
    const user = `${cli}export const node: Promise<EmbeddedNode> = createNode({}); void PortholeTransport;`;
    expect(await typeCheck('cli', { user }, 'node16')).toBe('');
    const sdk = `${imports('@porthole/client', 'createClient')}export const wrong: number = createClient({ url: '' });`;
    const found = await typeCheck('client', { sdk }, 'node16');
    expect(found.match(/error TS\d+/g)).toEqual(['error TS2322']);
  });

  it("the README's embedding example runs", async () => {
    expect(example).toContain("from 'porthole'");
    const file = join(work, 'cli', 'readme.mjs');
    writeFileSync(file, `${example}console.log(node.url);\nawait node.stop();\n`);
    const { stdout } = await execute(process.execPath, [file], { cwd: join(work, 'cli') });
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/m);
  });

  it('startNode gives a service its own node', async () => {
    const file = join(work, 'cli', 'user.mjs');
    writeFileSync(file, source.replace(', type RunningNode', '').replace(': RunningNode', ''));
    const { stdout } = await execute(process.execPath, [file], { cwd: join(work, 'cli') });
    expect(stdout).toBe('a = 1\n');
  });
});

describe('the package in programs of others', () => describeEmbedding(() => join(work, 'cli')));
