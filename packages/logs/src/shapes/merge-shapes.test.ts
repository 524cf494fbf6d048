import { expect, test } from 'vitest';
import { mergeShapes } from './merge-shapes.ts';

const NAMES = ['ann', 'bob', 'cy', 'dee', 'eve', 'flo', 'gus', 'hal'];

function merged(shapes: readonly string[]): string[] {
  return [...new Set(mergeShapes(shapes).values())].sort();
}

test('a word that varies among otherwise equal shapes is a variable', () => {
  expect(merged(NAMES.map((name) => `Failed password for ${name} from * port *`))).toEqual([
    'Failed password for * from * port *',
  ]);
});

test('what all words at a position have in common is kept', () => {
  expect(merged(NAMES.map((name) => `login refused: rhost=${name}, tty=ssh`))).toEqual([
    'login refused: rhost=*, tty=ssh',
  ]);
});

test('two words may vary', () => {
  const shapes = NAMES.flatMap((a) => NAMES.map((b) => `peer ${a} in zone ${b} is gone`));
  expect(merged(shapes)).toEqual(['peer * in zone * is gone']);
});

test('a few words are kinds of messages, and so are the words of short messages', () => {
  const few = ['Paused', 'Resumed', 'Started', 'Stopped'].map((state) => `VM ${state} (lifecycle event)`);
  expect(merged(few)).toEqual(few);
  expect(merged([...NAMES, 'a b', 'a c']).length).toBe(NAMES.length + 2);
});

test('a shape is merged into a more general one that covers it', () => {
  expect(merged(['lookup of * failed', 'lookup of localhost failed', 'lookup of **** failed'])).toEqual([
    'lookup of * failed',
    'lookup of **** failed',
  ]);
  expect(merged(['peer * in zone * is gone', 'peer ann in zone south is gone'])).toEqual(['peer * in zone * is gone']);
});

test('paths of requests stay apart', () => {
  const routes = NAMES.map((name) => `GET /${name} *`);
  expect(merged(routes)).toEqual(routes);
});
