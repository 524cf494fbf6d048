import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@porthole/logs/testing';
import { freePorts } from '@porthole/server/testing';
import { createToken } from '@porthole/server/tokens';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { copyCheckout } from './testing/copy-checkout.ts';
import { IMAGE_ENV, instructionArgs, instructionTexts, STAGES } from './testing/dockerfile.ts';

const execute = promisify(execFile);

/** Nobody, where the tests run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

let work: string;
let one: string;
let other: string;

beforeAll(async () => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'porthole-release-')));
  // Who runs the program must be let through.
  chmodSync(work, 0o755);
  [one, other] = await Promise.all([
    release(join(work, 'one'), { from: '.', umask: '022', asBuilt: true }),
    release(join(work, 'a/deeper/other place'), { from: 'packages/cli', umask: '077', asBuilt: false }),
  ]);
});

afterAll(() => rmSync(work, { recursive: true, force: true }));

interface ReleaseOptions {
  /** Where the command is run, within the checkout. */
  from: string;
  umask: string;
  /** Packs what was built in this checkout instead of building from nothing. */
  asBuilt: boolean;
}

/** Makes a release in a copy of this checkout, and returns its folder. */
async function release(checkout: string, { from, umask, asBuilt }: ReleaseOptions): Promise<string> {
  copyCheckout(checkout, { umask, asBuilt });
  const script = [join(checkout, 'scripts/pack.mjs'), ...(asBuilt ? ['--as-built'] : [])];
  const command = 'umask "$1" && shift && exec "$@"';
  const cwd = join(checkout, from);
  await execute('sh', ['-c', command, 'sh', umask, process.execPath, ...script], { cwd }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => expect.fail(`${stdout}${stderr}`),
  );
  return join(checkout, 'release');
}

it('two builds of the same sources give the same packages, independent of directory, umask and working directory', async () => {
  const hashes = readFileSync(join(one, 'SHA256SUMS'), 'utf8');
  expect(readFileSync(join(other, 'SHA256SUMS'), 'utf8')).toBe(hashes);
  expect(hashes.match(/\S+$/gm)).toEqual([
    'package-lock.json',
    'package.json',
    `porthole-${manifest.version}.tgz`,
    `porthole-client-${manifest.version}.tgz`,
    'porthole-client.cdx.json',
    'porthole.cdx.json',
  ]);
  // The hashes are those of the files: anyone can compare what they have got.
  await execute('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: other });
});

/** The steps of the Dockerfile behind the build, in folders instead of images. */
async function installRelease(): Promise<string> {
  const folder = join(work, 'opt');
  cpSync(one, folder, { recursive: true });
  const [, install] = STAGES;
  const [command = '', ...args] = (instructionTexts(install, 'RUN')[0] ?? '').split(' ');
  await execute(command, [...args, '--prefer-offline', '--loglevel=error'], { cwd: folder });
  await execute('chmod', ['-R', 'a-w,a+rX', folder]);
  onTestFinished(() => execute('chmod', ['-R', 'u+w', folder]).then(() => {}));
  return folder;
}

describe('the image, as far as it can be made without Docker', () => {
  it('runs as a user without rights from a tree nobody can write to, is healthy and stops on a signal', async () => {
    const installed = await installRelease();
    const state = join(installed, '../state');
    mkdirSync(state);
    const { line } = createToken('ops');
    writeFileSync(join(state, 'tokens'), line, { mode: 0o644 });
    if (NOBODY.uid !== undefined) chownSync(state, NOBODY.uid, NOBODY.gid);
    const [port = 0] = await freePorts(1);
    const given = {
      ...IMAGE_ENV,
      PORTHOLE_HTTP_PORT: `${port}`,
      PORTHOLE_GRPC_PORT: '0',
      PORTHOLE_LOGGING_DIR: join(state, 'log'),
      PORTHOLE_AUTH_TOKEN_FILE: join(state, 'tokens'),
      HEALTH_URL: (IMAGE_ENV.HEALTH_URL ?? '').replace('7300', `${port}`),
    };
    const program = (instructionArgs('ENTRYPOINT')[1] ?? '').replace('/opt/porthole', installed);
    const options = { cwd: state, env: given, ...NOBODY };
    const child = spawn(process.execPath, [program, ...instructionArgs('CMD')], { ...options, stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [, ...check] = instructionArgs('HEALTHCHECK');
    await eventually(() => execute(process.execPath, check, options).then(() => {}));
    expect(readdirSync(join(state, 'log'))).toContain('porthole.log');
    expect((await fetch(`http://127.0.0.1:${port}/api/v1/config`)).status).toBe(401);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    // What says whether it lives says so when it does not.
    await expect(execute(process.execPath, check, options)).rejects.toMatchObject({ code: 1 });
  });
});
