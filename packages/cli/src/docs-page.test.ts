import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandDefinition } from './command-definition.ts';
import { COMMAND_TREE } from './command-tree.ts';
import { updateDocsPage } from './docs-page.ts';
import { EXIT } from './exit.ts';

const PAGE = join(import.meta.dirname, '../../../docs/cli.md');

/** The full names of all runnable commands. */
function commandNames({ name, load, commands = [] }: CommandDefinition): string[] {
  return [...(load ? [name] : []), ...commands.flatMap(commandNames).map((below) => `${name} ${below}`)];
}

describe('docs/cli.md', () => {
  it('matches the program (UPDATE_DOCS=1 regenerates it)', async () => {
    const page = readFileSync(PAGE, 'utf8');
    const renewed = await updateDocsPage(page, COMMAND_TREE);
    if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, renewed);
    else expect(page).toBe(renewed);
  });

  it('has a heading for every command and no others', () => {
    const headings = [...readFileSync(PAGE, 'utf8').matchAll(/^### (porthole .*)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(commandNames(COMMAND_TREE));
  });

  it('lists every exit code', () => {
    const documented = [...readFileSync(PAGE, 'utf8').matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    expect(documented).toEqual(Object.values(EXIT));
  });

  it('rejects a page without the markers', async () => {
    await expect(updateDocsPage('# Nothing\n', COMMAND_TREE)).rejects.toThrow('docs/cli.md needs the lines');
  });
});
