import { getRoute, type RouteId } from '@porthole/contract';
import { LEVEL_NAMES } from '@porthole/contract/testing';
import { createZone } from '@porthole/logs';
import { LEVELS_BY_RANK, readLevelWord } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { type CommandDefinition, loadFlags } from './command-definition.ts';
import { COMMAND_TREE } from './command-tree.ts';
import { type FlagValue, Invocation } from './invocation.ts';
import type { Terminal } from './output/terminal.ts';
import { FILTERS, parameterFlags, toFlag } from './parameter-flags.ts';
import { recordFilter } from './records/record-flags.ts';
import type { LogSource } from './sources/log-source.ts';

const COMMANDS: [RouteId, command: string][] = [
  ['logSearch', 'logs search'],
  ['logSearch', 'logs search'],
  ['logFollow', 'logs'],
  ['logFollow', 'logs'],
  ['logHistogram', 'logs histogram'],
  ['logHistogram', 'logs histogram'],
  ['logDigest', 'logs digest'],
  ['logDigest', 'logs digest'],
  ['logTop', 'logs top'],
  ['logTop', 'logs top'],
  ['logFields', 'logs fields'],
  ['logFields', 'logs fields'],
  ['logAround', 'logs around'],
  ['bundle', 'bundle'],
];

function findCommand(path: string): CommandDefinition {
  const found = path
    .split(' ')
    .reduce<CommandDefinition | undefined>(
      (command, name) => command?.commands?.find((child) => child.name === name),
      COMMAND_TREE,
    );
  if (found === undefined) throw new Error(`no command "porthole ${path}"`);
  return found;
}

describe('the flags of a command', () => {
  it.each(COMMANDS)('%s: the parameters of the route are flags of "porthole %s"', async (id, path) => {
    const flags = await loadFlags(findCommand(path));
    const rows = getRoute(id).parameters.flatMap(({ cli }) => ('absent' in cli ? [] : [cli]));
    expect(rows.length).toBeGreaterThan(0);
    for (const { long, short, value } of rows)
      expect(
        flags.filter((flag) => flag.long === long),
        `--${long}`,
      ).toEqual([expect.objectContaining({ long, ...(short && { short }), ...(value && { value }) })]);
  });

  it('take values, repetition and defaults from the parameter', () => {
    const [level, grep] = parameterFlags('logSearch', ['level', 'grep']);
    expect(level).toMatchObject({ short: 'l', value: 'level', choices: expect.arrayContaining(['trace', 'fatal']) });
    expect(grep).toMatchObject({ value: 'text', many: true });
    expect(parameterFlags('logDigest', ['limit'])).toMatchObject([{ default: '50' }]);
    expect(parameterFlags('logAround', ['around'])).toMatchObject([{ default: '5s' }]);
  });

  it('take levels in any case and by the names that programs log them with', () => {
    const [level] = parameterFlags('logSearch', ['level']);
    for (const name of ['warn', 'WARN', 'Warning', 'err', 'CRIT', ...Object.keys(LEVEL_NAMES)])
      expect(level?.check?.(name), name).toBeUndefined();
    expect(level?.check?.('loud')).toBe('Expected trace, debug, info, warn, error or fatal.');
    const meanings = Object.fromEntries(
      Object.keys(LEVEL_NAMES).map((name) => [name, LEVELS_BY_RANK[readLevelWord(Buffer.from(name), 0, name.length)]]),
    );
    expect(LEVEL_NAMES).toEqual(meanings);
  });

  it('do not exist without a parameter', () => {
    expect(() => parameterFlags('logSearch', ['loud'])).toThrow(
      'no parameter of the route logSearch has the flag --loud',
    );
  });
});

describe('the filter of a command line', () => {
  const source = { clockAheadMs: 0 } as LogSource;
  const zone = createZone('UTC');
  const parse = (flags: ConstructorParameters<typeof Invocation>[1]) =>
    recordFilter(new Invocation([], flags, {} as Terminal), source, zone);

  it('has every filter of the parameter table', () => {
    const samples: Record<string, string> = { since: '@1', until: '@2', level: 'warn' };
    const flags = FILTERS.flatMap(toFlag).map(({ long, value, many }): [string, FlagValue] => {
      if (value === undefined) return [long, true];
      return [long, many ? ['a', '', long] : (samples[long] ?? long)];
    });
    const filter = parse(Object.fromEntries(flags));
    expect(Object.keys(filter)).toEqual(FILTERS.map(({ field }) => field));
    expect(filter).toMatchObject({
      fromMs: 1000,
      toMs: 2000,
      minLevel: 'WARN',
      terms: ['a', 'grep'],
      regex: 'regex',
      excluded: ['a', 'exclude'],
      caseSensitive: true,
      component: 'component',
    });
  });

  it('is empty without flags', () => {
    expect(parse({})).toEqual({});
  });

  it.each([
    [{ since: 'soon' }, /^invalid --since "soon": expected RFC 3339/],
    [{ since: '@2', until: '@1' }, /^--since \(.*\) must be before --until \(/],
    [{ grep: Array.from({ length: 33 }, () => 'x') }, /^--grep and --exclude are given 33 times; at most 32/],
  ])('is refused by the names of the flags: %j', (flags, message) => {
    expect(() => parse(flags)).toThrow(message);
  });
});
