import { describe, expect, test } from 'vitest';
import { keyGroups } from './key-groups.ts';
import { findCommand, LOG_KEYS } from './log-keys.ts';

const press = (key: string, more: Partial<Parameters<typeof findCommand>[0]> = {}) => ({
  key,
  altKey: false,
  ctrlKey: false,
  metaKey: false,
  ...more,
});

const on = { hasKeys: true };

describe('keys of the list', () => {
  test('letters are case-sensitive', () => {
    expect(findCommand(press('e'), on)).toBe('next-error');
    expect(findCommand(press('E'), on)).toBe('previous-error');
    expect(findCommand(press('Z'), on)).toBe('wrap');
    expect(findCommand(press('z'), on)).toBeUndefined();
  });

  test('Enter opens details and Alt+Enter shows only matches', () => {
    expect(findCommand(press('Enter'), on)).toBe('details');
    expect(findCommand(press('Enter', { altKey: true }), on)).toBe('only-matches');
  });

  test('browser shortcuts with Ctrl or Cmd are left alone', () => {
    expect(findCommand(press('f', { ctrlKey: true }), on)).toBeUndefined();
    expect(findCommand(press('c', { metaKey: true }), on)).toBeUndefined();
  });

  test('when off, letters do nothing, but arrows and Enter still work', () => {
    expect(findCommand(press('j'), { hasKeys: false })).toBeUndefined();
    expect(findCommand(press('ArrowDown'), { hasKeys: false })).toBe('down');
    expect(findCommand(press('Enter'), { hasKeys: false })).toBe('details');
  });

  test('no key press has two commands', () => {
    const presses = LOG_KEYS.flatMap(({ keys }) => keys.map(({ key, isAlt = false }) => `${key} ${isAlt}`));
    expect(new Set(presses).size).toBe(presses.length);
  });
});

test('lists every action once per group, with all of its keys', () => {
  for (const { keys } of keyGroups()) {
    const meanings = keys.map(({ meaning }) => meaning);
    expect(new Set(meanings).size).toBe(meanings.length);
  }
  const [, logKeys] = keyGroups();
  expect(logKeys?.keys).toContainEqual(expect.objectContaining({ shown: 'j ↓', meaning: 'next line' }));
});
