import { describe, expect, test } from 'vitest';
import { commandOf, LOG_KEYS } from './log-keys.ts';

const press = (key: string, more: Partial<Parameters<typeof commandOf>[0]> = {}) => ({
  key,
  altKey: false,
  ctrlKey: false,
  metaKey: false,
  ...more,
});
const on = { hasKeys: true };

describe('keys of the list', () => {
  test('letters differ by their case', () => {
    expect(commandOf(press('e'), on)).toBe('next-error');
    expect(commandOf(press('E'), on)).toBe('previous-error');
    expect(commandOf(press('Z'), on)).toBe('wrap');
    expect(commandOf(press('z'), on)).toBeUndefined();
  });

  test('Enter opens details and Alt+Enter shows only matches', () => {
    expect(commandOf(press('Enter'), on)).toBe('details');
    expect(commandOf(press('Enter', { altKey: true }), on)).toBe('only-matches');
  });

  test('what the browser does with Ctrl or Cmd stays its own', () => {
    expect(commandOf(press('f', { ctrlKey: true }), on)).toBeUndefined();
    expect(commandOf(press('c', { metaKey: true }), on)).toBeUndefined();
  });

  test('turned off, letters do nothing but arrows and Enter still work', () => {
    expect(commandOf(press('j'), { hasKeys: false })).toBeUndefined();
    expect(commandOf(press('ArrowDown'), { hasKeys: false })).toBe('down');
    expect(commandOf(press('Enter'), { hasKeys: false })).toBe('details');
  });

  test('no two mean the same press', () => {
    const presses = LOG_KEYS.map(({ key, isAlt = false }) => `${key} ${isAlt}`);
    expect(new Set(presses).size).toBe(presses.length);
  });
});
