import { quoteShell } from '@porthole/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_TREE } from '../command-tree.ts';
import { type CompletedCommand, completedCommands } from './completed-command.ts';
import { fishScript, quoteFish } from './fish-script.ts';
import { zshScript } from './zsh-script.ts';

let commands: CompletedCommand[];

beforeAll(async () => {
  commands = await completedCommands(COMMAND_TREE);
});

/** Values that nobody can know before they are typed: texts, names to be made up, opaque ones. */
const FREE =
  /^--(?:grep|exclude|regex|template|cursor|at|etcd|node-host-\w+|node-labels|http-(?:base-path|allowed-hosts|cors-origins)|auth-(?!jwt-algorithms|token).*|service-(?:config-command|unit)|journal-unit|log-formats|logs-scrub-patterns|search-max-index-disk|notify-webhook|cluster-(?!role).*|archive-(?!keep|interval).*|ship-otlp(?:-service)?|config-secret-keys)$/;

const FREE_ARGUMENTS = ['logs search 0', 'context add 0', 'token 0'];

it('values are completed wherever they can be known, in every shell', () => {
  const without = commands.flatMap(({ path, flags }) =>
    flags.filter(({ value, complete }) => value !== 'none' && !complete).map(({ long }) => `${path}: --${long}`),
  );
  expect(without.filter((line) => !FREE.test(line.replace(/^.*: /, '')))).toEqual([]);
  const args = commands.flatMap(({ path, args: own }) =>
    own.flatMap((each, index) => (each ? [] : [`${path} ${index}`])),
  );
  expect(args).toEqual(FREE_ARGUMENTS);
});

describe('completion in zsh', () => {
  it('has a function per command with each of its commands and flags', () => {
    const script = zshScript('porthole', commands);
    for (const { path, flags, commands: below } of commands) {
      const name = ['_porthole', ...path.split(' ').filter(Boolean)].join('_');
      const [, body = ''] = script.split(new RegExp(`^${name}\\(\\) \\{$`, 'm'));
      const own = body.slice(0, body.indexOf('\n}\n'));
      for (const { long, short } of flags) {
        expect(own).toMatch(new RegExp(`'\\*--${long}=?\\[`));
        if (short !== undefined) expect(own).toMatch(new RegExp(`'\\*-${short}\\+?\\[`));
      }
      for (const command of below) expect(own).toContain(`${command.name}) ${name}_${command.name} ;;`);
    }
  });
});

describe('completion of what only the program knows', () => {
  it.each([
    ['zsh', zshScript, ":value: _porthole_dynamic context'", "'1: : _porthole_dynamic node'"],
    ['fish', fishScript, '__complete context (commandline -cp', '__complete node (commandline -cp'],
  ])('is asked for in %s', (_shell, write, flag, argument) => {
    expect(write('porthole', commands)).toContain(flag);
    expect(write('porthole', commands)).toContain(argument);
  });
});

describe('completion in fish', () => {
  it('has a line for every command and every flag, where they are possible', () => {
    const lines = fishScript('porthole', commands).split('\n');
    for (const { path, flags, commands: below } of commands) {
      const here = `complete -c porthole -n '__porthole_at \\'${path}\\''`;
      for (const { name } of below)
        expect(lines.some((line) => line.startsWith(`${here} -a '${name}' -d `))).toBe(true);
      for (const { long, short } of flags) {
        const names = short === undefined ? `-l ${long}` : `-s ${short} -l ${long}`;
        expect(lines.some((line) => line.startsWith(`${here} ${names} -d `))).toBe(true);
      }
    }
  });

  it('knows the choices of flags', () => {
    expect(fishScript('porthole', commands)).toMatch(/-s o -l output .* -x -a 'table unified json'/);
  });
});

describe('quoting', () => {
  it.each([
    ['plain', "'plain'", "'plain'"],
    ["it's", "'it'\\''s'", "'it\\'s'"],
    ['a\\b', "'a\\b'", "'a\\\\b'"],
  ])('of %s', (text, shell, fish) => {
    expect([quoteShell(text), quoteFish(text)]).toEqual([shell, fish]);
  });
});
