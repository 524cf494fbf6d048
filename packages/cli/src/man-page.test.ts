import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ensurePrograms } from '../../../scripts/programs.mjs';
import type { CommandDefinition } from './command-definition.ts';
import { COMMAND_TREE } from './command-tree.ts';
import { manPages } from './man-page.ts';

const EDITION = { version: '1.2.3', date: '2026-11-15' };

/** What mandoc finds wrong, or prints. */
function mandoc(pages: ReadonlyMap<string, string>, ...args: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'porthole-man-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of pages) writeFileSync(join(folder, name), text);
  const program = ensurePrograms(['mandoc']).get('mandoc') ?? '';
  const { stdout, stderr } = spawnSync(program, [...args, ...pages.keys()], { cwd: folder, encoding: 'utf8' });
  return stdout + stderr;
}

it('every command has a page, in which mandoc finds nothing wrong', async () => {
  const pages = await manPages(COMMAND_TREE, EDITION);
  expect([...pages.keys()]).toEqual(
    expect.arrayContaining(['porthole.1', 'porthole-logs.1', 'porthole-logs-search.1']),
  );
  expect(pages.size).toBeGreaterThan(30);
  expect(mandoc(pages, '-Tlint', '-Wwarning')).toBe('');
});

it('a page has all that help says, as it was written', async () => {
  const command: CommandDefinition = {
    name: 'odd',
    about: "print 'it' as it is",
    args: [{ name: 'file', about: '.profile, or - for none', many: true }],
    flags: [
      { long: 'no-path', short: 'n', value: 'dir', default: 'C:\\a', about: 'not ~/a^b, `log.dir` — nor … it' },
      { long: 'only', value: 'what', choices: ['a', 'b'], alone: 'a', about: "'a' or b" },
    ],
    notes: ['First.\nSecond.'],
    examples: [["odd 'x' -n", 'so']],
    load: () => Promise.reject(new Error('is not run')),
  };
  const pages = await manPages({ name: 'it', about: 'do', commands: [command] }, EDITION);
  expect([...pages.keys()]).toEqual(['it.1', 'it-odd.1']);
  expect(mandoc(pages, '-Tlint', '-Wwarning')).toBe('');
  const page = new Map([['it-odd.1', pages.get('it-odd.1') ?? '']]);
  // Overstrikes are how bold and italic characters are printed.
  const text = mandoc(page, '-Tutf8', '-Owidth=100').replaceAll(/.[\b]/g, '');
  for (const line of [
    "it-odd - print 'it' as it is",
    'it odd [flags] <file...>',
    '-n, --no-path dir',
    'not ~/a^b, log.dir — nor … it (default: C:\\a)',
    '--only [a|b]',
    "'a' or b",
    '.profile, or - for none',
    "odd 'x' -n",
    'it(1)',
  ])
    expect(text).toContain(line);
  expect(text).toMatch(/First\.\n +Second\./);
  expect(text).toContain('it 1.2.3');
});
