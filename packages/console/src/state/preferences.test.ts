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

test('where nothing is stored, no zone is made and nothing parsed: both take milliseconds while the page starts', () => {
  const spies = [vi.spyOn(Intl, 'DateTimeFormat'), vi.spyOn(JSON, 'parse')];
  try {
    const { zone, pinned } = new Preferences(fakeStorage());
    expect([zone.value, pinned.value]).toEqual(['local', []]);
    for (const spy of spies) expect(spy).not.toHaveBeenCalled();
    const stored = new Preferences(fakeStorage({ 'porthole.zone': 'Asia/Tokyo', 'porthole.pinned': '["shard"]' }));
    expect([stored.zone.value, stored.pinned.value]).toEqual(['Asia/Tokyo', ['shard']]);
    for (const spy of spies) expect(spy).toHaveBeenCalledOnce();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
});
