import { describe, expect, it } from 'vitest';
import { Invocation } from '../invocation.ts';
import type { Terminal } from '../output/terminal.ts';
import { recordOutput } from './record-flags.ts';

const parse = (flags: ConstructorParameters<typeof Invocation>[1], isTty = false) =>
  recordOutput(new Invocation([], flags, { isTty } as Terminal));

describe('the output of records', () => {
  it('is chosen by the flags and the terminal', () => {
    expect(parse({}).format).toBe('raw');
    expect(parse({}, true).format).toBe('pretty');
    expect(parse({ fields: ['shard'] }).format).toBe('table');
    expect(parse({ template: '{time}' }, true).format).toBe('template');
    expect(parse({ output: 'csv' }).format).toBe('csv');
  });

  it('requests the fields that records do not have anyway', () => {
    expect(parse({ output: 'csv' }).fields).toEqual([]);
    expect(parse({ output: 'csv', fields: ['time, shard', 'message,shard,context.time'] })).toMatchObject({
      chosen: ['time', 'shard', 'message', 'context.time'],
      fields: ['shard', 'context.time'],
    });
    expect(parse({ template: '{time} {shard}/{shard}' }).fields).toEqual(['shard']);
  });

  it('in JSON carries all fields, or the chosen ones', () => {
    expect(parse({ output: 'json' }).fields).toEqual(['*']);
    expect(parse({ output: 'json', fields: ['time,level,shard'] }).fields).toEqual(['level', 'shard']);
  });

  it.each([
    [{ output: 'template' }, '-o template needs --template'],
    [{ output: 'csv', template: '{time}' }, '--template cannot be combined with -o csv'],
    [{ output: 'raw', fields: ['a'] }, '--fields cannot be combined with -o raw; use -o table, -o csv, -o json'],
    [{ template: '{a}', fields: ['a'] }, '--fields cannot be combined with -o template'],
    [{ output: 'csv', fields: ['*'] }, '--fields * needs -o json; name the columns of -o csv'],
    [{ template: '{a' }, 'invalid --template at character 1'],
  ])('refuses %j', (flags, message) => {
    expect(() => parse(flags)).toThrow(message);
  });
});
