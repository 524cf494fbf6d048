import { SETTINGS_BY_KEY } from '@porthole/server/settings';
import { describe, expect, it } from 'vitest';
import type { CommandDefinition } from './command-definition.ts';
import { COMMAND_TREE } from './command-tree.ts';
import { buildProgram } from './program.ts';

/** The definitions of all commands by their names, like `logs search`; the program itself has none. */
function commandsBelow({ commands = [] }: CommandDefinition, above: string[] = []): [string[], CommandDefinition][] {
  return commands.flatMap((command) => {
    const names = [...above, command.name];
    return [[names, command] as [string[], CommandDefinition], ...commandsBelow(command, names)];
  });
}

const COMMANDS = [[[], COMMAND_TREE] as [string[], CommandDefinition], ...commandsBelow(COMMAND_TREE)];

/** What `--help` prints on a terminal of that width. */
async function helpOf(names: readonly string[], columns: number): Promise<string> {
  let command = await buildProgram(COMMAND_TREE, ['node', 'porthole', ...names, '--help'], async () => {});
  for (const name of names) {
    const below = command.commands.find((child) => child.name() === name);
    if (below === undefined) throw new Error(`no command ${names.join(' ')}`);
    command = below;
  }
  let text = '';
  const writeOut = (part: string) => {
    text += part;
  };
  command.configureOutput({ writeOut, getOutHelpWidth: () => columns }).outputHelp();
  return text;
}

describe.each(COMMANDS.map(([names]) => ['porthole', ...names].join(' ')))('%s --help', (line) => {
  const names = line.split(' ').slice(1);

  it.each([80, 132])('has no line of more than %d columns on a terminal of that width', async (columns) => {
    const text = await helpOf(names, columns);
    expect(text).toContain(`Usage: ${line}`);
    expect(text.split('\n').filter((row) => row.length > columns)).toEqual([]);
  });
});

it('the width of the terminal is used', async () => {
  const widest = Math.max(...(await helpOf(['serve'], 132)).split('\n').map((row) => row.length));
  expect(widest).toBeGreaterThan(100);
});

/** Of a resource in OpenTelemetry; it looks like a setting. */
const OTLP_ATTRIBUTE = 'service.name';

/** `cluster.record-keep`, where a text of the help names it; names of files and of fields look alike. */
function settingsIn(text: string): string[] {
  const sections = new Set([...SETTINGS_BY_KEY.keys()].map((key) => key.split('.')[0]));
  const files = /\.(toml|log|json|yaml|gz|ndjson)$/;
  return [...text.matchAll(/(?<![\w./@-])([a-z]+)\.([a-z][a-z-]*)\b/g)].flatMap(([key, section = '']) =>
    sections.has(section) && !files.test(key) && key !== OTLP_ATTRIBUTE ? [key] : [],
  );
}

it('names only settings that exist', async () => {
  const named = (await Promise.all(COMMANDS.map(([names]) => helpOf(names, 132)))).flatMap((text) => settingsIn(text));
  expect(named).toContain('cluster.record-keep');
  expect(named.filter((key) => !SETTINGS_BY_KEY.has(key))).toEqual([]);
});
