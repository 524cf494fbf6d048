import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { routeOf } from '@porthole/contract';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createToken } from '../packages/server/src/auth/tokens.ts';
import { eventually } from '../packages/server/src/testing/eventually.ts';
import { copyCheckout } from './testing/copy-checkout.ts';
import { readDeployed, settingsOf } from './testing/deployed-settings.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '..');

/** A build from nothing, and an installation. */
const SLOW_MS = 180_000;

/** Nobody, where the tests run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

interface Instruction {
  name: string;
  text: string;
}

/** One list of instructions per stage. */
const stages = readDeployed('docker/Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .split(/^(?=FROM )/m)
  .filter((stage) => stage.startsWith('FROM'))
  .map((stage) =>
    stage
      .trim()
      .split(/\n+/)
      .map(
        (line): Instruction => ({ name: line.slice(0, line.indexOf(' ')), text: line.slice(line.indexOf(' ') + 1) }),
      ),
  );
const [build = [], install = [], last = []] = stages;

function textsOf(stage: readonly Instruction[], name: string): string[] {
  return stage.filter((one) => one.name === name).map(({ text }) => text);
}

function wordsOf(name: string): string[] {
  return JSON.parse((textsOf(last, name)[0] ?? '').replace(/^.*?(?=\[)/, '')) as string[];
}

const env: Record<string, string> = Object.fromEntries(
  (textsOf(last, 'ENV')[0] ?? '').split(' ').map((pair) => pair.split('=')),
);

describe('deploy/docker/Dockerfile', () => {
  it('starts from images with a version, and hands nothing on but the installation', () => {
    expect(stages.length).toBe(3);
    for (const [from] of stages) expect(from?.text).toMatch(/^\S+24\S*(:| AS |$)/);
    expect(textsOf(build, 'COPY')).toEqual(['. .']);
    expect(textsOf(build, 'RUN')).toEqual(['npm run pack']);
    expect(textsOf(install, 'COPY')).toEqual(['--from=build /src/release/ ./']);
    for (const text of textsOf(last, 'COPY')) expect(text).toMatch(/^--from=install /);
    expect(existsSync(join(root, 'scripts/pack.mjs'))).toBe(true);
  });

  it('runs as nobody in particular, without a shell', () => {
    expect(textsOf(last, 'USER')).toEqual(['65532:65532']);
    expect(textsOf(last, 'RUN')).toEqual([]);
    expect(wordsOf('ENTRYPOINT')).toEqual(['/nodejs/bin/node', '/opt/porthole/node_modules/porthole/bin/porthole.cjs']);
    expect(wordsOf('HEALTHCHECK')[0]).toBe('/nodejs/bin/node');
  });

  it('has a command and settings that exist, and does not start without tokens', async () => {
    const [command, ...words] = wordsOf('CMD');
    expect(command).toBe('serve');
    await expect(settingsOf(words, env)).rejects.toThrow('auth.token-file');
    const { settings } = await settingsOf(words, { ...env, PORTHOLE_AUTH_TOKEN_FILE: '/tokens' });
    expect(textsOf(last, 'EXPOSE')).toEqual([`${settings.http.port} ${settings.grpc.port}`]);
    expect(env.HEALTH_URL).toBe(`http://127.0.0.1:${settings.http.port}${routeOf('live').path}`);
    expect(wordsOf('VOLUME').some((path) => settings.logging.dir.startsWith(`${path}/`))).toBe(true);
  });

  it('keeps what was built and installed here out of the image', () => {
    const ignored = readDeployed('docker/Dockerfile.dockerignore').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['**/node_modules', '**/dist', 'release', '.git']));
  });
});

/** The steps of the stages, in folders instead of images. */
async function installRelease(): Promise<string> {
  const checkout = copyCheckout('image');
  // Its parent is a directory of our own; who runs the program must be let through.
  chmodSync(join(checkout, '..'), 0o755);
  await execute(process.execPath, ['scripts/pack.mjs'], { cwd: checkout });
  const folder = join(checkout, '../opt');
  cpSync(join(checkout, 'release'), folder, { recursive: true });
  const [command = '', ...args] = (textsOf(install, 'RUN')[0] ?? '').split(' ');
  await execute(command, [...args, '--prefer-offline', '--loglevel=error'], { cwd: folder });
  await execute('chmod', ['-R', 'a-w,a+rX', folder]);
  onTestFinished(() => execute('chmod', ['-R', 'u+w', folder]).then(() => {}));
  return folder;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('the image, as far as it can be made without Docker', () => {
  it(
    'runs as a user without rights from a tree nobody can write to, is healthy and stops when told',
    async () => {
      const installed = await installRelease();
      const state = join(installed, '../state');
      mkdirSync(state);
      const { line } = createToken('ops');
      writeFileSync(join(state, 'tokens'), line, { mode: 0o644 });
      if (NOBODY.uid !== undefined) chownSync(state, NOBODY.uid, NOBODY.gid);
      const port = await freePort();
      const given = {
        ...env,
        PORTHOLE_HTTP_PORT: `${port}`,
        PORTHOLE_GRPC_PORT: '0',
        PORTHOLE_LOGGING_DIR: join(state, 'log'),
        PORTHOLE_AUTH_TOKEN_FILE: join(state, 'tokens'),
        HEALTH_URL: (env.HEALTH_URL ?? '').replace('7300', `${port}`),
      };
      const program = (wordsOf('ENTRYPOINT')[1] ?? '').replace('/opt/porthole', installed);
      const options = { cwd: state, env: given, ...NOBODY };
      const child = spawn(process.execPath, [program, ...wordsOf('CMD')], { ...options, stdio: 'ignore' });
      onTestFinished(() => void child.kill('SIGKILL'));
      const [, ...check] = wordsOf('HEALTHCHECK');
      await eventually(() => execute(process.execPath, check, options).then(() => {}), { withinMs: 30_000 });
      expect(readdirSync(join(state, 'log'))).toContain('porthole.log');
      expect((await fetch(`http://127.0.0.1:${port}/api/v1/config`)).status).toBe(401);
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
      // What says whether it lives says so when it does not.
      await expect(execute(process.execPath, check, options)).rejects.toMatchObject({ code: 1 });
    },
    SLOW_MS,
  );
});
