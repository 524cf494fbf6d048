import { expect, it } from 'vitest';
import { type ConfigShape, flattenSettings } from './flatten-settings.ts';

/** JSON values, as a parser without an own representation gives them. */
const JSON_SHAPE: ConfigShape<unknown> = {
  entries: (node) =>
    typeof node === 'object' && node !== null && !Array.isArray(node)
      ? Object.entries(node).map(([key, value]) => [[key], value])
      : undefined,
  elements: (node) => (Array.isArray(node) ? node : undefined),
};

const CONFIG = {
  top: 1,
  a: { 'b c': { d: 'value' } },
  list: [1, ['two']],
  servers: [{ host: 'x' }, { host: 'y', 'in.ner': { port: 1 } }, 3],
  empty: {},
};

it('every value is under its whole path; keys that are not bare are quoted, tables in arrays numbered', () => {
  expect([...flattenSettings<unknown>(CONFIG, JSON_SHAPE)]).toEqual([
    ['top', 1],
    ['a."b c".d', 'value'],
    ['list', [1, ['two']]],
    ['servers[0].host', 'x'],
    ['servers[1].host', 'y'],
    ['servers[1]."in.ner".port', 1],
    ['servers[2]', 3],
  ]);
});

it('an empty table is a value only where the parser distinguishes it from a header', () => {
  const shape: ConfigShape<unknown> = { ...JSON_SHAPE, hasEmptyTables: true };
  expect([...flattenSettings<unknown>({ a: {}, b: [{}] }, shape)]).toEqual([
    ['a', {}],
    ['b[0]', {}],
  ]);
  expect([...flattenSettings<unknown>({ a: {}, b: [{}] }, JSON_SHAPE)]).toEqual([]);
});
