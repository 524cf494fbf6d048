import { expect, test } from 'vitest';
import { Preferences } from './preferences.ts';

function fakeStorage(entries: Record<string, string> = {}) {
  const kept = new Map(Object.entries(entries));
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
}

test('choices are kept and found again', () => {
  const kept = fakeStorage();
  const before = new Preferences(kept);
  before.theme.set('dark');
  before.zone.set('utc');
  before.hasKeys.set(false);
  const after = new Preferences(kept);
  expect([after.theme.value, after.zone.value, after.hasKeys.value]).toEqual(['dark', 'utc', false]);
});

test('what was kept and makes no sense is as if it were not there', () => {
  const { theme, zone, hasKeys } = new Preferences(fakeStorage({ 'porthole.theme': 'pink', 'porthole.keys': '' }));
  expect([theme.value, zone.value, hasKeys.value]).toEqual(['system', 'local', true]);
});

test('without storage, or where it throws, choices last as long as the page', () => {
  const forbidden = () => {
    throw new Error('storage is forbidden');
  };
  for (const place of [undefined, { getItem: forbidden, setItem: forbidden }]) {
    const { theme } = new Preferences(place);
    theme.set('dark');
    expect(theme.value).toBe('dark');
  }
});
