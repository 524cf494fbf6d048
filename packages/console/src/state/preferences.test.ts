import { expect, test, vi } from 'vitest';
import { Preferences } from './preferences.ts';

function fakeStorage(entries: Record<string, string> = {}) {
  const stored = new Map(Object.entries(entries));
  return {
    stored,
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  };
}

test('choices are stored and restored', () => {
  const stored = fakeStorage();
  const before = new Preferences(stored);
  before.theme.set('dark');
  before.zone.set('utc');
  before.hasKeys.set(false);
  before.pinned.set(['shard']);
  const after = new Preferences(stored);
  expect([after.theme.value, after.zone.value, after.hasKeys.value]).toEqual(['dark', 'utc', false]);
  expect(after.pinned.value).toEqual(['shard']);
});

test('invalid stored values are ignored', () => {
  const { theme, zone, hasKeys } = new Preferences(fakeStorage({ 'porthole.theme': 'pink', 'porthole.keys': '' }));
  expect([theme.value, zone.value, hasKeys.value]).toEqual(['system', 'local', true]);
});

test('without storage, or if it throws, choices last as long as the page', () => {
  const forbidden = () => {
    throw new DOMException('storage is forbidden', 'SecurityError');
  };
  for (const storage of [undefined, { getItem: forbidden, setItem: forbidden }]) {
    const { theme } = new Preferences(storage);
    theme.set('dark');
    expect(theme.value).toBe('dark');
  }
});

test('without a chosen zone, the browser is not asked about zones: it takes tens of milliseconds at the start', () => {
  const format = vi.spyOn(Intl, 'DateTimeFormat');
  try {
    expect(new Preferences(fakeStorage()).zone.value).toBe('local');
    expect(format).not.toHaveBeenCalled();
    expect(new Preferences(fakeStorage({ 'porthole.zone': 'Asia/Tokyo' })).zone.value).toBe('Asia/Tokyo');
    expect(format).toHaveBeenCalledOnce();
  } finally {
    format.mockRestore();
  }
});
