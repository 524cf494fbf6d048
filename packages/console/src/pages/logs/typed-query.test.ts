import { expect, test } from 'vitest';
import { QueryHistory } from './typed-query.ts';

function fakeStorage(initial: Record<string, string> = {}) {
  const items = new Map(Object.entries(initial));
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, text: string) => items.set(key, text),
  };
}

test('is bounded', () => {
  const history = new QueryHistory(fakeStorage());
  for (let number = 0; number < 100; number++) history.add(`a=${number}`);
  history.add('x'.repeat(5000));
  expect(history.list.value).toHaveLength(30);
  expect(history.list.value[0]).toBe('a=99');
});

test('keeps what another tab added', () => {
  const storage = fakeStorage();
  const [one, other] = [new QueryHistory(storage), new QueryHistory(storage)];
  other.add('b=2');
  one.add('a=1');
  expect(one.list.value).toEqual(['a=1', 'b=2']);
});

test('works without storage, and with a storage that refuses or holds something else', () => {
  const refusing = {
    getItem: () => {
      throw new DOMException('denied', 'SecurityError');
    },
    setItem: () => {
      throw new DOMException('full', 'QuotaExceededError');
    },
  };
  for (const storage of [undefined, refusing, fakeStorage({ 'porthole.queries': '{"a":[1' })]) {
    const history = new QueryHistory(storage);
    history.add('a=1');
    history.add('b=2');
    expect(history.list.value).toEqual(['b=2', 'a=1']);
  }
  expect(new QueryHistory(fakeStorage({ 'porthole.queries': '[1,"a=1",null]' })).list.value).toEqual(['a=1']);
});
