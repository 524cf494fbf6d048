import { MAX_VIEWS } from '@porthole/contract';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatViews, openSaved, readViews, SavedViews, savedQuery } from './saved-views.ts';
import { ALL_LOGS, type LogsView } from './view.ts';
import { viewUrl } from './view-url.ts';

/** A storage in memory; `setItem` fails as in a browser whose storage is full. */
function memoryStorage({ isFull = false } = {}) {
  const items = new Map<string, string>();
  return {
    items,
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => {
      if (isFull) throw new DOMException('full', 'QuotaExceededError');
      items.set(key, value);
    },
  };
}

const ERRORS: LogsView = { ...ALL_LOGS, minLevel: 'ERROR', range: { kind: 'last', spanMs: 900_000 } };

const names = (views: SavedViews) => views.list.value.map(({ name }) => name);

describe('saved views', () => {
  it('are read by the next page, and open the same view without its position', () => {
    const storage = memoryStorage();
    const view = { ...ERRORS, at: { node: 'n1', cursor: 'c' }, isLive: false, isPlain: true };
    expect(new SavedViews(storage).save('  errors,\n last 15 min ', view)).toBeNull();
    const [saved] = new SavedViews(storage).list.value;
    expect(saved).toEqual({ name: 'errors, last 15 min', query: 'last=15m&level=error' });
    expect(saved && openSaved(saved)).toEqual(ERRORS);
  });

  it('a name that is taken replaces its view; renaming to one is refused', () => {
    const views = new SavedViews(memoryStorage());
    views.save('a', ERRORS);
    views.save('b', ALL_LOGS);
    views.save('a', ALL_LOGS);
    expect(views.list.value).toEqual([
      { name: 'a', query: '' },
      { name: 'b', query: '' },
    ]);
    expect(views.rename('b', 'a')).toBe('There is already a view named "a"');
    expect(views.rename('b', 'c')).toBeNull();
    views.remove('a');
    expect(names(views)).toEqual(['c']);
    expect(views.save(' ', ALL_LOGS)).toBe('Enter a name');
    expect(views.save('x'.repeat(81), ALL_LOGS)).toBe('The name has more than 80 characters');
  });

  it('of two tabs are all kept', () => {
    const storage = memoryStorage();
    const [one, two] = [new SavedViews(storage), new SavedViews(storage)];
    one.save('a', ALL_LOGS);
    two.save('b', ALL_LOGS);
    one.reload();
    expect(names(one)).toEqual(['a', 'b']);
  });

  it('are limited in number', () => {
    const views = new SavedViews(memoryStorage());
    views.add(Array.from({ length: MAX_VIEWS }, (_, count) => ({ name: `v${count}`, query: '' })));
    expect(views.save('one more', ALL_LOGS)).toBe('There are 200 saved views already: delete one first');
    expect(views.save('v7', ERRORS)).toBeNull();
    expect(views.add([{ name: 'imported', query: '' }])).toBe(0);
  });

  it.each([undefined, memoryStorage({ isFull: true })])('work without storage, and say so (%#)', (storage) => {
    const views = new SavedViews(storage);
    expect(views.save('a', ALL_LOGS)).toBeNull();
    expect(names(views)).toEqual(['a']);
    expect(views.isKept.value).toBe(false);
  });

  it('damaged ones are skipped, and what cannot be read is moved away before it is replaced', () => {
    const storage = memoryStorage();
    storage.items.set('porthole.views', '{"version":1,"views":[{"name":"a","query":"level=error"},7,{"name":"b"}]}');
    expect(names(new SavedViews(storage))).toEqual(['a']);
    storage.items.set('porthole.views', '{"version":1,"vie');
    const views = new SavedViews(storage);
    expect(names(views)).toEqual([]);
    views.save('c', ALL_LOGS);
    expect(storage.items.get('porthole.views.unreadable')).toBe('{"version":1,"vie');
    expect(names(new SavedViews(storage))).toEqual(['c']);
  });
});

describe('files of saved views', () => {
  it('are read back; names that are taken get a number', () => {
    const views = new SavedViews(memoryStorage());
    views.save('a', ERRORS);
    const file = formatViews([
      { name: 'a', query: '' },
      { name: 'b', query: 'src=n1' },
    ]);
    expect(views.add(readViews(file)?.views ?? [])).toBe(2);
    expect(names(views)).toEqual(['a', 'a (2)', 'b']);
    expect(views.add(readViews(formatViews(views.list.value))?.views ?? [])).toBe(0);
  });

  it('only known parameters are imported, never an address', () => {
    const hostile = [
      { name: 'address', query: 'https://evil.example/logs?level=error' },
      { name: 'script', query: 'javascript:alert(1)' },
      { name: 'unknown', query: 'level=error&onclick=alert(1)' },
      { name: 'invalid', query: 'level=loud' },
      { name: { toString: 'x' }, query: '' },
      { name: 'a', query: 'q=%00', extra: 'x' },
      { name: 'a', query: '' },
      null,
    ];
    const read = readViews(JSON.stringify({ version: 1, views: hostile }));
    expect(read?.views).toEqual([{ name: 'a', query: 'q=%00' }]);
    expect(read?.skipped).toEqual([
      'address: https://evil.example/logs?level is not a parameter of this page',
      'script: javascript:alert(1) is not a parameter of this page',
      'unknown: onclick is not a parameter of this page',
      'invalid: level=loud is ignored: expected trace, debug, info, warn, error or fatal',
      'view 5: not a view',
      'a: the name occurs twice',
      'view 8: not a view',
    ]);
  });

  it('whatever a file contains, nothing is thrown and every view opens a page of the console', () => {
    const view = fc.record({ name: fc.string(), query: fc.oneof(fc.string(), fc.webQueryParameters()) });
    const content = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(view, { maxLength: 4 }).map((views) => JSON.stringify({ version: 1, views })),
    );
    fc.assert(
      fc.property(content, (text) => {
        for (const saved of readViews(text)?.views ?? []) expect(viewUrl(openSaved(saved))).toMatch(/^\/logs(\?|$)/);
      }),
      { numRuns: runs(20) },
    );
  });

  it('a saved query is a fixed point', () => {
    const query = savedQuery({ ...ERRORS, text: 'a&b=c', excluded: ['x y'] });
    expect(savedQuery(openSaved({ name: 'a', query }))).toBe(query);
  });
});
