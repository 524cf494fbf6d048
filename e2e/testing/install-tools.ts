import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** What our package is mounted in and bundled by: not needed to build or check it, so not in the lockfile. */
export const FRAMEWORKS = {
  '@hono/node-server': '2.1.6',
  '@nestjs/common': '11.2.10',
  '@nestjs/core': '11.2.10',
  '@nestjs/platform-express': '11.2.10',
  express: '5.3.0',
  'express-session': '1.18.2',
  fastify: '5.12.8',
  hono: '4.13.17',
  koa: '3.2.1',
  'koa-mount': '4.2.0',
  pino: '10.4.0',
  'reflect-metadata': '0.2.2',
  rxjs: '7.8.2',
  winston: '3.19.0',
};

/** Later versions need a newer Node.js than ours, through a dependency. */
const OVERRIDES = { 'light-my-request': '6.6.0' };

/** As docs/recipes.md installs it. */
export const DUCKDB = { '@duckdb/node-api': '1.5.5-r.5' };

/** A client for the HTTP API of Loki. */
export const LOKI_CLIENT = { '@myunisoft/loki': '6.0.0' };

export const PACKAGE_MANAGERS = { '@yarnpkg/cli-dist': '4.18.1', pnpm: '10.34.9' };

export const BUNDLERS = { jest: '30.2.0', webpack: '5.112.2' };

/** The `node_modules` with these packages: installed once, and kept for later runs. */
export async function installTools(packages: Readonly<Record<string, string>>): Promise<string> {
  const specs = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  const hash = createHash('sha256').update(specs.join()).digest('hex').slice(0, 12);
  const kept = join(tmpdir(), `porthole-tools-${hash}`);
  if (existsSync(kept)) return join(kept, 'node_modules');
  const aside = mkdtempSync(join(tmpdir(), 'porthole-tools-'));
  writeFileSync(join(aside, 'package.json'), JSON.stringify({ private: true, overrides: OVERRIDES }));
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', '--loglevel=error'];
  await execute('npm', ['install', ...options, ...specs], { cwd: aside });
  try {
    renameSync(aside, kept);
  } catch (error) {
    if (!existsSync(kept)) throw error;
    rmSync(aside, { recursive: true, force: true }); // another run was faster
  }
  return join(kept, 'node_modules');
}

/** Makes packages importable in a project, as if it had installed them. */
export function linkPackages(project: string, { from, names }: { from: string; names: readonly string[] }): void {
  for (const name of names) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(from, name), link);
  }
}
