import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startTestNode } from '@porthole/server/testing';
import { expect, it } from 'vitest';
import { ensurePrograms } from '../scripts/programs.mjs';
import { DUCKDB, installTools } from './testing/install-tools.ts';
import { BINARY } from './testing/program.ts';

const PAGE = join(import.meta.dirname, '../docs/recipes.md');

/** A log of the node, by its name. */
const LOG = /^```text (\S+)\n([\s\S]*?)^```$/gm;

/** A command and, behind it, what it prints. */
const RECIPE = /^```sh\n(.*)\n```\n(?:\n```text\n[\s\S]*?^```\n)?/gm;

const execute = promisify(execFile);

it('every recipe prints what docs/recipes.md shows (UPDATE_DOCS=1 writes it)', async () => {
  ensurePrograms(['jq', 'sqlite3']);
  const page = readFileSync(PAGE, 'utf8');
  const commands = [...page.matchAll(RECIPE)].map(([, command = '']) => command);
  expect(commands.length).toBeGreaterThanOrEqual(10);
  expect(page).toContain(Object.entries(DUCKDB).join().replace(',', '@'));
  const { port, dir } = await startTestNode({
    settings: { node: { timeZone: 'UTC' }, cluster: { nodeId: 'broker-1' } },
    files: Object.fromEntries([...page.matchAll(LOG)].map(([, name = '', text = '']) => [name, text])),
  });
  const program = join(dir, 'porthole');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${BINARY}' "$@"\n`, { mode: 0o755 });
  const env = {
    PATH: `${dir}:${process.env.PATH}`,
    HOME: dir,
    TZ: 'UTC',
    NODE_PATH: await installTools(DUCKDB),
    PORTHOLE_URL: `http://127.0.0.1:${port}`,
  };
  const outputs: string[] = [];
  for (const command of commands) {
    const { stdout, stderr } = await execute('bash', ['-o', 'pipefail', '-c', command], { cwd: dir, env });
    expect(stderr, command).toBe('');
    expect(stdout, command).not.toBe('');
    outputs.push(stdout.replaceAll('\r', ''));
  }
  const renewed = page.replace(RECIPE, (_, command: string) => {
    return `\`\`\`sh\n${command}\n\`\`\`\n\n\`\`\`text\n${outputs.shift()}\`\`\`\n`;
  });
  if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, renewed);
  else expect(page).toBe(renewed);
});
