import { execFile } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '@porthole/logs/testing';
import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { shareBrowser } from './browser-page.ts';
import { BUNDLERS, FRAMEWORKS, installTools, linkPackages, PACKAGE_MANAGERS } from './install-tools.ts';
import { openConsole, waitUntilVisible } from './open-console.ts';
import { Program } from './program.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const SERVERS = ['node-http', 'express', 'fastify', 'koa', 'nest', 'hono'];

/** `COMPAT=1` runs more: what takes long to install and to run. */
const RUNS_ALL = process.env.COMPAT === '1';

const WORKING = {
  records: 12_000,
  config: 200,
  hasSecret: false,
  script: 200,
  missing: 404,
  version: '2.4.0',
  listeners: 0,
};

/** The package in programs of others, on the frameworks and tools they use; `project` has it installed. */
export function describeEmbedding(project: () => string): void {
  beforeAll(async () => {
    linkPackages(project(), { from: await installTools(FRAMEWORKS), names: Object.keys(FRAMEWORKS) });
    for (const name of readdirSync(join(root, 'examples')).filter((file) => file.startsWith('embed-')))
      cpSync(join(root, 'examples', name), join(project(), name));
    for (const name of readdirSync(join(import.meta.dirname, 'embedding')))
      cpSync(join(import.meta.dirname, 'embedding', name), join(project(), name));
  });

  /** What a program prints, as JSON. */
  const run = async (...args: string[]): Promise<unknown> => {
    const { stdout } = await execute(process.execPath, args, { cwd: project() });
    return JSON.parse(stdout.slice(stdout.search(/^[[{]/m)).split('\n')[0] ?? '');
  };

  describe('a node in the server of a program', () => {
    const browser = shareBrowser();

    it('works on every framework, with its console below /ops, until the program ends', async () => {
      const cwd = project();
      const imports = SERVERS.map((name) => `await import('./embed-${name}.mjs');`);
      writeFileSync(join(cwd, 'servers.mjs'), imports.join('\n'));
      // All in one process: several nodes of one do not get in each other's way.
      const program = new Program(['servers.mjs'], { cwd, command: process.execPath, env: { PORT: '0' } });
      await eventually(() => expect(program.stdout.match(/\n/g)).toHaveLength(SERVERS.length));
      const lines = program.stdout.trim().split('\n');
      const follows = await Promise.all(
        lines.map((line, index) => tryServer(line, join(cwd, 'log', SERVERS[index] ?? ''))),
      );
      await tryConsole(browser(), lines.at(-1)?.split(' ')[1] ?? '');
      program.kill('SIGTERM');
      for (const { ended } of follows) expect(await ended).toContain('"reason":"stopping"');
      const { code, stderr } = await program.end();
      // Koa reports connections that clients reset, whatever served them.
      const others = stderr.replaceAll(/^\s*Error: ((read|write) (ECONNRESET|EPIPE)|aborted)\n(\s+at .*\n)*\s*/gm, '');
      expect({ code, others }).toEqual({ code: 0, others: '' });
    });
  });

  it('ends what somebody follows when they log out of the service', async () => {
    const options = { cwd: project(), command: process.execPath, env: { PORT: '0' } };
    const program = new Program(['embed-sessions.mjs'], options);
    await eventually(() => expect(program.stdout).toContain('\n'));
    const url = program.stdout.trim().split(' ')[1] ?? '';
    const follow = (cookie: string) => fetch(`${url}api/v1/log/follow`, { headers: { cookie } });
    expect((await follow('')).status).toBe(401);
    const login = async () => {
      const response = await fetch(new URL('/login', url), { method: 'POST' });
      return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    };
    const [ann, bob] = [await login(), await login()];
    const [ending, staying] = [await follow(ann), await follow(bob)];
    expect([ending.status, staying.status]).toEqual([200, 200]);
    expect((await fetch(new URL('/logout', url), { method: 'POST', headers: { cookie: ann } })).status).toBe(200);
    await expect(ending.text()).rejects.toThrow();
    expect((await follow(ann)).status).toBe(401);
    // The session of another one goes on, until the service ends.
    program.kill('SIGTERM');
    expect(await staying.text()).toContain('"reason":"stopping"');
    expect((await program.end()).code).toBe(0);
  });

  it('pino and winston write what a node reads, all levels included; JSON of pino is read as it is', async () => {
    const records = (await run('loggers.mjs')) as { file: string; level: string; message: string; context?: object }[];
    const found = records.map(({ file, level, message }) => `${file} ${level} ${message}`).sort();
    expect(found).toEqual([
      'json.log FATAL as JSON',
      'pino.log FATAL a fatal\\nerror',
      'pino.log TRACE a trace',
      'syslog.log FATAL an emergency',
      'winston.log TRACE silly',
      'winston.log WARN a warning',
    ]);
    expect(records.find(({ file }) => file === 'winston.log')).toMatchObject({ context: { order: 9 } });
  });

  describe('a program that embeds a node', () => {
    it('may be CommonJS', async () => {
      const { stdout } = await execute(process.execPath, ['run.cjs'], { cwd: project() });
      expect(stdout).toBe('function function\n');
    });

    it.each(['esm', 'cjs'] as const)('may be bundled by esbuild as %s', async (format) => {
      const outfile = join(project(), `esbuild-${format}`, format === 'esm' ? 'run.mjs' : 'run.cjs');
      // Packages in CommonJS that are bundled into a module need it.
      const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
      const entry = { entryPoints: [join(project(), 'run.mjs')], bundle: true, outfile };
      await build({
        ...entry,
        platform: 'node',
        format,
        logLevel: 'error',
        ...(format === 'esm' && { banner: { js: banner } }),
      });
      expect(await run(outfile)).toEqual(WORKING);
    });

    it('may be bundled by Vite for the server, with everything in it', async () => {
      const { build: buildSsr } = (await import(resolveIn(root, 'vite'))) as ViteBuild;
      const outDir = join(project(), 'vite');
      await buildSsr({
        root: project(),
        configFile: false,
        logLevel: 'error',
        build: { ssr: 'run.mjs', outDir, minify: false },
        ssr: { noExternal: true },
      });
      expect(await run(join(outDir, 'run.js'))).toEqual(WORKING);
    });

    if (RUNS_ALL) describeSlowTools(project, run);
    if (RUNS_ALL) describePackageManagers(project);
  });
}

interface ViteBuild {
  build(options: object): Promise<unknown>;
}

function describeSlowTools(project: () => string, run: (...args: string[]) => Promise<unknown>): void {
  let tools = '';
  beforeAll(async () => {
    tools = await installTools(BUNDLERS);
  });

  it('may be bundled by webpack, with everything in it', async () => {
    const { stdout } = await execute(process.execPath, ['webpack.cjs', join(tools, 'webpack')], { cwd: project() });
    expect(stdout.trim()).toBe('webpack compiled successfully');
    expect(await run('webpack/run.cjs')).toEqual(WORKING);
  });

  it('may be tested by Jest', async () => {
    const config = {
      testEnvironment: 'node',
      transform: {},
      moduleFileExtensions: ['mjs', 'js'],
      testMatch: ['**/host-jest.mjs'],
    };
    const args = ['--experimental-vm-modules', join(tools, 'jest/bin/jest.js'), '--config', JSON.stringify(config)];
    expect(await run(...args)).toEqual(WORKING);
  });
}

/** A program in a project that another package manager has made, with whatever it is strict about. */
function describePackageManagers(project: () => string): void {
  let tools = '';
  beforeAll(async () => {
    tools = await installTools(PACKAGE_MANAGERS);
  });

  const install = async (name: string, program: string, args: readonly string[], env: Record<string, string> = {}) => {
    const folder = join(project(), '..', name);
    mkdirSync(folder);
    const tarball = readdirSync(join(project(), '..')).find((file) => /^porthole-\d.*\.tgz$/.test(file));
    const manifest = { name: 'user', private: true, type: 'module', dependencies: { porthole: `file:../${tarball}` } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    for (const file of ['run.mjs', 'host.mjs'])
      cpSync(join(import.meta.dirname, 'embedding', file), join(folder, file));
    const use = (...words: string[]) =>
      execute(process.execPath, [join(tools, program), ...words], { cwd: folder, env: { ...process.env, ...env } });
    await use('install', ...args);
    return use;
  };

  it('may be installed by pnpm, which has nothing to ask', async () => {
    const use = await install('pnpm', 'pnpm/bin/pnpm.cjs', ['--config.strict-dep-builds=true', '--prefer-offline']);
    const { stdout } = await use('exec', 'node', 'run.mjs');
    expect(JSON.parse(stdout)).toEqual(WORKING);
  });

  it("may be installed by Yarn as Plug'n'Play, without node_modules", async () => {
    const env = {
      YARN_ENABLE_TELEMETRY: '0',
      YARN_ENABLE_IMMUTABLE_INSTALLS: '0',
      YARN_GLOBAL_FOLDER: join(project(), '../yarn-global'),
    };
    const use = await install('yarn', '@yarnpkg/cli-dist/bin/yarn.js', [], env);
    const { stdout } = await use('node', 'run.mjs');
    expect(JSON.parse(stdout)).toEqual(WORKING);
    expect(existsSync(join(project(), '../yarn/node_modules'))).toBe(false);
  });
}

function resolveIn(folder: string, name: string): string {
  return pathToFileURL(createRequire(join(folder, 'package.json')).resolve(name)).href;
}

/** Uses a node as its clients do. Returns the text of a follow, when that has ended. */
async function tryServer(line: string, logDir: string): Promise<{ ended: Promise<string> }> {
  const url = line.split(' ')[1] ?? '';
  const at = (path: string, init?: RequestInit) => fetch(url + path, init);
  expect(await (await fetch(new URL('/', url))).text()).toBe('the shop\n');
  for (const address of [url, url.replace(/\/$/, ''), `${url}logs?q=a`]) {
    const page = await (await fetch(address, { headers: { accept: 'text/html' } })).text();
    expect(page, address).toContain('<meta name="porthole-base" content="/ops">');
  }
  expect((await at('api/v1/config', { method: 'HEAD' })).status).toBe(200);
  expect((await at('api/v1/config', { method: 'DELETE' })).status).toBe(405);
  const headers = { 'content-type': 'application/json' };
  const found = await at('api/v1/log/search', { method: 'POST', headers, body: '{"q":["ready"]}' });
  expect(await found.text()).toContain('the node is ready');
  // Some of it is read, then the client leaves.
  const leaving = new AbortController();
  await (await at('api/v1/log/follow?back=5', { signal: leaving.signal })).body?.getReader().read();
  leaving.abort();
  await eventually(async () => expect(await (await at('metrics')).text()).toMatch(/^porthole_open_streams 0$/m));
  const reader = (await at('api/v1/log/follow')).body?.pipeThrough(new TextDecoderStream()).getReader();
  appendFileSync(join(logDir, 'porthole.log'), '2026-11-16 12:00:00.000\tINFO\ta.go:1\t[A]: followed\n');
  let text = '';
  while (!text.includes('followed')) text += (await reader?.read())?.value ?? '';
  const readOn = async () => {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value;
    return text;
  };
  return { ended: readOn() };
}

/** The console, its links and its requests stay below the path of the node. */
async function tryConsole(browser: Browser, url: string): Promise<void> {
  const { page, requested } = await openConsole(browser, url, { path: '/ops/' });
  await page.getByRole('link', { name: 'Logs', exact: true }).click();
  await waitUntilVisible(page.getByText('the node is ready').first());
  expect(new URL(page.url()).pathname).toBe('/ops/logs');
  expect(requested.filter((address) => !address.startsWith(url.replace(/\/$/, '')))).toEqual([]);
}
