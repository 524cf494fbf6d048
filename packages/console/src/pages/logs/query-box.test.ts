import { expect, test } from 'vitest';
import { CLOSED, type ListState, pressInList } from './query-box.tsx';

const key = (name: string, held: Partial<{ ctrlKey: boolean; altKey: boolean; shiftKey: boolean }> = {}) => ({
  ...{ key: name, ctrlKey: false, altKey: false, shiftKey: false },
  ...held,
});
const three = { count: 3, isEmpty: false, hasHistory: true };
const open = (index: number): ListState => ({ kind: 'completions', index });

test('arrows move through the options and around', () => {
  expect(pressInList(open(-1), key('ArrowDown'), three)).toEqual({ list: open(0) });
  expect(pressInList(open(2), key('ArrowDown'), three)).toEqual({ list: open(0) });
  expect(pressInList(open(-1), key('ArrowUp'), three)).toEqual({ list: open(2) });
  expect(pressInList(open(0), key('ArrowUp'), three)).toEqual({ list: open(2) });
});

test('Enter and Tab take the chosen option, and are left alone while none is chosen', () => {
  for (const name of ['Enter', 'Tab']) {
    expect(pressInList(open(1), key(name), three)).toEqual({ list: CLOSED, choose: true });
    expect(pressInList(open(-1), key(name), three)).toBeNull();
    expect(pressInList(open(1), key(name, { shiftKey: true }), three)).toBeNull();
    expect(pressInList(open(0), key(name), { ...three, count: 0 })).toBeNull();
    expect(pressInList(CLOSED, key(name), three)).toBeNull();
  }
  expect(pressInList(open(1), key('Enter', { altKey: true }), three)).toBeNull();
});

test('Escape closes a list that is used, and is left alone otherwise', () => {
  expect(pressInList(open(1), key('Escape'), three)).toEqual({ list: CLOSED });
  expect(pressInList(open(-1), key('Escape'), three)).toBeNull();
  expect(pressInList(CLOSED, key('Escape'), three)).toBeNull();
});

test('Ctrl+Space and Down open the completions', () => {
  expect(pressInList(CLOSED, key(' ', { ctrlKey: true }), three)).toEqual({ list: open(0) });
  expect(pressInList(CLOSED, key('ArrowDown'), { ...three, count: 0 })).toEqual({ list: open(0) });
  expect(pressInList(CLOSED, key('ArrowUp'), { ...three, count: 0 })).toBeNull();
  expect(pressInList(CLOSED, key(' '), three)).toBeNull();
});

test('arrows in an empty box open the last queries, if there are any', () => {
  const empty = { count: 0, isEmpty: true, hasHistory: true };
  expect(pressInList(CLOSED, key('ArrowUp'), empty)).toEqual({ list: { kind: 'history', index: 0 } });
  expect(pressInList(CLOSED, key('ArrowDown'), empty)).toEqual({ list: { kind: 'history', index: 0 } });
  expect(pressInList(CLOSED, key('ArrowDown'), { ...empty, hasHistory: false })).toEqual({ list: open(0) });
});
