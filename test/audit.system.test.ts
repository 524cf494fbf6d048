import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { auditInstalled } from '../scripts/audit-installed.mjs';
import { askAdvisories } from '../scripts/audit-registry.mjs';

const root = join(import.meta.dirname, '..');

/** A name that archives cannot hold in the usual place. */
const LONG = `${'deep/'.repeat(30)}end.js`;
const FILES = { 'package.json': '{"name":"left","version":"1.0.0"}', 'index.js': 'one', [LONG]: 'two', 'empty.js': '' };

/** A project with one package in its lockfile, installed, and the package as the registry would serve it. */
function project(): { root: string; folder: string; audit: () => ReturnType<typeof auditInstalled> } {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-audit-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const folder = join(dir, 'node_modules/left');
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  cpSync(folder, join(dir, 'source/package'), { recursive: true });
  const tarball = execFileSync('tar', ['-C', join(dir, 'source'), '-cz', 'package']);
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const packages = { '': {}, 'node_modules/left': { version: '1.0.0', integrity } };
  writeFileSync(join(dir, 'package-lock.json'), JSON.stringify({ packages }));
  return { root: dir, folder, audit: () => auditInstalled({ root: dir, tarballOf: async () => tarball }) };
}

describe('the audit of what is installed', () => {
  it('is silent where every file is as it was published', async () => {
    expect(await project().audit()).toEqual({ packages: 1, problems: [], unseen: [] });
  });

  it('finds a changed file, however little has changed', async () => {
    const { folder, audit } = project();
    writeFileSync(join(folder, 'index.js'), 'onf');
    expect((await audit()).problems).toEqual(['node_modules/left/index.js was changed']);
  });

  it('finds a file with a long name', async () => {
    const { folder, audit } = project();
    writeFileSync(join(folder, LONG), 'changed');
    expect((await audit()).problems).toEqual([`node_modules/left/${LONG} was changed`]);
  });

  it('finds a file that was added, and one that is gone', async () => {
    const { folder, audit } = project();
    writeFileSync(join(folder, 'more.js'), 'evil');
    rmSync(join(folder, 'empty.js'));
    expect((await audit()).problems).toEqual([
      'node_modules/left/more.js is not of this package',
      'node_modules/left/empty.js is missing',
    ]);
  });

  it('finds a package that nobody asked for, also inside another one, and one that is not there', async () => {
    const { root: dir, folder, audit } = project();
    mkdirSync(join(dir, 'node_modules/@evil/right'), { recursive: true });
    mkdirSync(join(folder, 'node_modules/inner'), { recursive: true });
    expect((await audit()).problems).toEqual([
      'node_modules/@evil/right is installed and not in the lockfile',
      'node_modules/left/node_modules/inner is installed and not in the lockfile',
    ]);
    rmSync(join(dir, 'node_modules'), { recursive: true });
    expect((await audit()).problems).toEqual(['node_modules/left is in the lockfile and not installed']);
  });

  it('does not believe a package whose hash is another', async () => {
    const { root: dir } = project();
    const { problems } = await auditInstalled({ root: dir, tarballOf: async () => Buffer.from('something else') });
    expect(problems).toEqual(['node_modules/left: the package that was got is not the one the lockfile means']);
  });

  it('reports what it could not compare', async () => {
    const { root: dir } = project();
    const report = await auditInstalled({ root: dir, tarballOf: async () => undefined });
    expect(report).toEqual({ packages: 1, problems: [], unseen: ['node_modules/left'] });
  });
});

it('npm run audit finds this checkout as the lockfile means it, and says what it has not asked', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/audit.mjs', '--offline'], { cwd: root });
  expect(stdout).toMatch(/^installed: (\d+ packages, every file as in the package the lockfile means|note)$/m);
  expect(stdout).toMatch(/^Node\.js: /m);
  expect(stdout).toMatch(/^advisories and signatures: not asked \(--offline\)$/m);
});

/** A registry that knows these advisories, or none of the routes. */
async function registry(advisories: object | undefined): Promise<NodeJS.ProcessEnv> {
  const server = createServer((request, response) => {
    request.resume();
    const known = advisories !== undefined && request.url?.endsWith('/security/advisories/bulk');
    response.writeHead(known ? 200 : 405, { 'content-type': 'application/json' });
    response.end(known ? JSON.stringify(advisories) : '{}');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/` };
}

const ADVISORY = {
  id: 1,
  url: 'https://example.org/1',
  title: 'all is lost',
  severity: 'high',
  vulnerable_versions: '*',
};

describe('the question for advisories', () => {
  it('reports advisories for what users install as problems, others as notices', async () => {
    const env = await registry({ 'smol-toml': [ADVISORY], publint: [ADVISORY] });
    const { notAsked, problems, notices } = await askAdvisories(root, env);
    expect({ notAsked, problems }).toEqual({
      notAsked: undefined,
      problems: ['smol-toml (high): all is lost https://example.org/1'],
    });
    expect(notices).toContain('publint (high): all is lost https://example.org/1 (only builds and tests)');
  });

  it('says that it was not answered, rather than nothing', async () => {
    const report = await askAdvisories(root, await registry(undefined));
    expect(report).toMatchObject({ problems: [], notices: [] });
    expect(report.notAsked).toContain('405');
  });
});
