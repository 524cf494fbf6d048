import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldOperator, QueryNode } from '../types.ts';
import { filterToQuery } from './filter-to-query.ts';
import { compileQuery } from './match-query.ts';
import { parseQuantity, quantityOrder } from './quantity.ts';

const record = {
  level: 'WARN' as const,
  source: 'query/exec.go:12',
  tags: ['Query', 'ÄRGER'],
  message: 'request timeouts, cost=523.4ms size=1.5MiB n=1e3 x="Kelvin \u212A" ratio=013.50 wait_ms=900 sizeBytes=2000',
  context: { shard: 130, ids: [1, 2], user: 'Ana Müller', path: '/a/b-c_d', empty: '', zero: -0 },
};

const compile = (pattern: string, { caseSensitive }: { caseSensitive: boolean }) =>
  new RegExp(pattern, caseSensitive ? 'm' : 'mi');

const matches = (node: QueryNode) => compileQuery(node, compile)(record, () => record.message);

describe('a field matches', () => {
  it.each<[string, FieldOperator, string, boolean]>([
    ['shard', '=', '130', true],
    ['shard', '=', '13', false],
    ['shard', ':', '13', false],
    ['shard', '!=', '13', true],
    ['none', '!=', '13', false],
    ['ids', '=', '2', true],
    ['ids', '!=', '2', false],
    ['ratio', '=', '13.5', true],
    ['ratio', '=', '00013.5000', true],
    ['n', '=', '1000', false],
    ['n', '=', '1E3', true],
    ['n', '>=', '1000', true],
    ['n', '>', '1000', false],
    ['user', '=', 'ana müller', true],
    ['user', '=', 'ana MÜLLER', true],
    ['user', ':', 'ANA', true],
    ['user', ':', 'Müll', false],
    ['user', ':', 'Ana M', false],
    ['path', ':', 'b', true],
    ['path', ':', 'c', false],
    ['path', ':', '/a/', true],
    ['empty', '=', '', true],
    ['zero', '=', '0', true],
    ['x', '=', 'kelvin k', false],
    ['message', ':', 'timeout', false],
    ['message', ':', 'TIMEOUTS', true],
    ['source', ':', 'exec.go', true],
    ['source', '=', 'exec.go', true],
    ['source', '=', 'exec.go:12', true],
    ['source', '=', 'Exec.go', false],
    ['source', '=', 'xec.go', false],
    ['component', '=', 'query', true],
    ['component', '=', 'ärger', true],
    ['component', ':', 'que', false],
    ['level', '=', 'warning', true],
    ['level', ':', 'warn', true],
    ['level', '=', 'WAR', false],
    ['level', '!=', 'error', true],
    ['level', '>=', 'info', true],
    ['level', '<', 'warn', false],
    ['level', '<=', 'err', true],
    ['cost', '>', '500ms', true],
    ['cost', '>', '0.5s', true],
    ['cost', '<', '523.40000001ms', true],
    ['cost', '=', '0.5234s', true],
    ['cost', '>', '500', false],
    ['cost', '<=', '500', false],
    ['size', '>=', '1536KiB', true],
    ['size', '=', '1.5mib', true],
    ['size', '>', '1.5MB', true],
    ['size', '>', '1ms', false],
    ['shard', '>', '1ms', false],
    ['wait_ms', '>', '0.8s', true],
    ['wait_ms', '>', '1s', false],
    ['wait_ms', '>', '1KB', false],
    ['sizeBytes', '=', '2KB', true],
    ['sizeBytes', '!=', '2KB', false],
    ['wait_ms', '=', '0.9s', true],
    ['shard', '=', '130ms', false],
    ['sizeBytes', '>=', '2KB', true],
  ])('%s %s %s: %s', (field, operator, value, expected) => {
    expect(matches({ kind: 'field', field, operator, value })).toBe(expected);
  });

  it.each<[string, FieldOperator, string, boolean]>([
    ['user', '=', 'ana*', true],
    ['user', '=', '*müll*', true],
    ['user', '=', 'müll*', false],
    ['user', '!=', 'müll*', true],
    ['path', '=', '/*b*b*', false],
    ['path', '=', '/*/*-*d', true],
    ['path', '=', '/a/b-c_d*d', false],
    ['user', ':', 'müll*', true],
    ['user', ':', '*üller', true],
    ['user', ':', 'üll*', false],
    ['user', ':', 'ana*mülle', false],
    ['user', ':', '*', true],
    ['none', ':', '*', false],
    ['level', '=', 'w*', true],
    ['component', '=', 'q*y', true],
  ])('the pattern %s %s %s: %s', (field, operator, value, expected) => {
    expect(matches({ kind: 'field', field, operator, value, wildcard: true })).toBe(expected);
  });

  it('a regex, or exists', () => {
    expect(matches({ kind: 'fieldRegex', field: 'user', pattern: '^ana' })).toBe(true);
    expect(matches({ kind: 'fieldRegex', field: 'user', pattern: '^ana', caseSensitive: true })).toBe(false);
    expect(matches({ kind: 'exists', field: 'cost' })).toBe(true);
    expect(matches({ kind: 'exists', field: 'context.level' })).toBe(false);
  });

  it('text folds the letters A to Z only, unless it has others', () => {
    expect(matches({ kind: 'text', text: 'kelvin k' })).toBe(false);
    expect(matches({ kind: 'text', text: 'KELVIN \u212A' })).toBe(true);
    expect(matches({ kind: 'text', text: 'Request', caseSensitive: true })).toBe(false);
  });
});

it('a filter is one query', () => {
  expect(filterToQuery({})).toBeUndefined();
  expect(filterToQuery({ terms: ['a'] })).toEqual({ kind: 'text', text: 'a' });
  const query: QueryNode = {
    kind: 'or',
    nodes: [
      { kind: 'text', text: 'x' },
      { kind: 'exists', field: 'y' },
    ],
  };
  const all = { minLevel: 'WARN', source: 's', component: 'c', terms: ['a'], excluded: ['b'], regex: 'r' } as const;
  expect(filterToQuery({ ...all, caseSensitive: true, query })).toEqual({
    kind: 'and',
    nodes: [
      { kind: 'field', field: 'level', operator: '>=', value: 'warn' },
      { kind: 'field', field: 'source', operator: '=', value: 's' },
      { kind: 'field', field: 'component', operator: '=', value: 'c' },
      { kind: 'text', text: 'a', caseSensitive: true },
      { kind: 'not', node: { kind: 'text', text: 'b', caseSensitive: true } },
      { kind: 'regex', pattern: 'r', caseSensitive: true },
      {
        kind: 'or',
        nodes: [
          { kind: 'text', text: 'x', caseSensitive: true },
          { kind: 'exists', field: 'y' },
        ],
      },
    ],
  });
});

describe('quantities', () => {
  it('compare exactly, whatever their length', () => {
    const digits = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
    const scale = fc.nat(20);
    const show = (value: bigint, places: number) => {
      const text = (value < 0n ? -value : value).toString().padStart(places + 1, '0');
      const whole = text.slice(0, text.length - places);
      return `${value < 0n ? '-' : ''}0${whole}${places > 0 ? `.${text.slice(-places)}` : ''}`;
    };
    fc.assert(
      fc.property(digits, digits, scale, scale, fc.boolean(), (one, other, places, otherPlaces, isSame) => {
        const second = isSame ? one * 10n ** 3n : other;
        const secondPlaces = isSame ? places + 3 : otherPlaces;
        const exact = one * 10n ** BigInt(secondPlaces) - second * 10n ** BigInt(places);
        const order = quantityOrder(show(second, secondPlaces), 'x')?.(show(one, places)) ?? Number.NaN;
        // Adding 0 makes 0 of -0.
        expect(Math.sign(order) + 0).toBe(exact === 0n ? 0 : exact < 0n ? -1 : 1);
      }),
      { seed: 5, numRuns: runs(150) },
    );
  });

  it.each([
    ['1h30m', '90m'],
    ['1.5s', '1500ms'],
    ['2µs', '2000ns'],
    ['2μs', '2us'],
    ['1d', '24h'],
    ['-1m0.5s', '-60.5s'],
    ['1 KiB', '1024B'],
    ['1.5GB', '1500000 kb'],
    ['10', '1e1'],
    ['0.00', '-0'],
  ])('%s is %s', (one, other) => {
    expect(parseQuantity(one)).toBeDefined();
    expect(parseQuantity(one)).toEqual(parseQuantity(other));
  });

  it.each(['', '-', '1.', '.5', '1M', '1 h 2 m', '1kbps', '0x10', '1e1234567890', `${'1'.repeat(70)}ms`])(
    '"%s" is none',
    (text) => {
      expect(parseQuantity(text)).toBeUndefined();
    },
  );

  it.each([
    ['elapsed_ms', true],
    ['elapsedMs', true],
    ['elapsed.ms', true],
    ['ms', true],
    ['items', false],
    ['s', false],
    ['status', false],
    ['took_s', true],
    ['tookS', false],
    ['readBytes', false],
    ['waitSeconds', true],
  ])('a number of %s is a duration: %s', (field, expected) => {
    expect(quantityOrder('1ms', field)?.('7') !== undefined).toBe(expected);
  });
});
