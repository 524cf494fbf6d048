import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const execute = promisify(execFile);

/** A checkout with one dependency, which needs no registry, and the scripts that install it. */
function createCheckout(): string {
  const checkout = mkdtempSync(join(tmpdir(), 'porthole-install-'));
  onTestFinished(() => rmSync(checkout, { recursive: true, force: true }));
  for (const path of ['scripts/steps.mjs', 'scripts/run-group.mjs', 'packages/cli/bin/check-node.cjs'])
    cpSync(join(import.meta.dirname, '..', path), join(checkout, path));
  mkdirSync(join(checkout, 'dependency'));
  const dependencies = { dependency: 'file:dependency' };
  writeJson(join(checkout, 'dependency/package.json'), { name: 'dependency', version: '1.0.0' });
  writeJson(join(checkout, 'package.json'), { name: 'checkout', type: 'module', dependencies });
  writeLock(checkout, '1.0.0');
  return checkout;
}

function writeLock(checkout: string, version: string): void {
  writeJson(join(checkout, 'package-lock.json'), {
    name: 'checkout',
    lockfileVersion: 3,
    packages: {
      '': { name: 'checkout', dependencies: { dependency: 'file:dependency' } },
      dependency: { version },
      'node_modules/dependency': { resolved: 'dependency', link: true },
    },
  });
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, JSON.stringify(value));
}

/** What `npm start` and `npm test` do first; returns what it prints. */
async function install(checkout: string): Promise<string> {
  const code = "import { install } from './scripts/steps.mjs'; await install();";
  const { stderr } = await execute(process.execPath, ['--input-type=module', '-e', code], { cwd: checkout });
  return stderr;
}

it('dependencies are installed when they are missing or the lockfile has changed, and only then', async () => {
  const checkout = createCheckout();
  const manifest = join(checkout, 'node_modules/dependency/package.json');
  expect(await install(checkout)).toContain('installing dependencies');
  expect(JSON.parse(readFileSync(manifest, 'utf8'))).toMatchObject({ name: 'dependency' });

  rmSync(join(checkout, 'node_modules/dependency'));
  expect(await install(checkout)).not.toContain('installing');
  expect(existsSync(manifest)).toBe(false);

  writeLock(checkout, '1.0.1');
  writeJson(join(checkout, 'dependency/package.json'), { name: 'dependency', version: '1.0.1' });
  expect(await install(checkout)).toContain('installing dependencies');
  expect(existsSync(manifest)).toBe(true);
});
