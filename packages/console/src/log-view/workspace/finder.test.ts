import { PortholeError } from '@porthole/client';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import type { FindQuery } from '../model/workspace-state.ts';
import { settled } from '../testing/manual-clock.ts';
import { openTestWorkspace } from '../testing/open-workspace.ts';
import { withFind, withLevel } from './finder.ts';

const keyAt = (number: number) => `n1 c${number}`;
const find = (text: string, more: Partial<FindQuery> = {}): FindQuery => ({
  text,
  isRegex: false,
  isCaseSensitive: false,
  ...more,
});

describe('searching for a text', () => {
  it('steps through the rows without a request', async () => {
    const { workspace, source, draw } = await openTestWorkspace(100, { find: find('RECORD 5') });
    workspace.findNext('older');
    await draw();
    expect(workspace.state.focusedKey).toBe(keyAt(59));
    workspace.findNext('older');
    await draw();
    expect(workspace.state.focusedKey).toBe(keyAt(58));
    workspace.findNext('newer');
    await draw();
    expect(workspace.state.focusedKey).toBe(keyAt(59));
    expect(source.requests).toHaveLength(1);
  });

  it('is not restarted by the same text', async () => {
    const { workspace, draw } = await openTestWorkspace(100);
    workspace.setFind(find('record 5'));
    workspace.findNext('older');
    workspace.setFind(find('record 5'));
    await draw();
    expect(workspace.state.focusedKey).toBe(keyAt(59));
  });

  it('continues in the log after the last row, and shows the surroundings', async () => {
    const { workspace, source, draw, numbers } = await openTestWorkspace(2000, { find: find('record 777') });
    workspace.findNext('older');
    await draw();
    expect(workspace.state).toMatchObject({ focusedKey: keyAt(777), anchor: { key: keyAt(777), align: 'center' } });
    expect(numbers()).toContain(700);
    const [, request] = source.requests;
    expect(request).toMatchObject({ direction: 'older', limit: 1, filter: { terms: ['record 777'] } });
  });

  it('reports index and total', async () => {
    const { workspace, draw } = await openTestWorkspace(2000, { find: find('99') });
    await draw();
    // Records 99, 199 ... 1999, and 990 to 998, 1990 to 1998.
    expect(workspace.state.find).toMatchObject({ total: 38, index: null });
    workspace.findNext('older');
    await draw();
    expect(workspace.state.find).toMatchObject({ total: 38, index: 38 });
    workspace.findNext('older');
    await draw();
    expect(workspace.state.find.index).toBe(37);
    workspace.focus(keyAt(1990));
    expect(workspace.state.find.index).toBeNull();
  });

  it('reports no total if not all could be counted', async () => {
    const { workspace, draw } = await openTestWorkspace(100, {
      find: find('5'),
      prepare: (source) => {
        source.isCountPartial = true;
      },
    });
    await draw();
    expect(workspace.state.find.total).toBeNull();
  });

  it('reports that there are no more matches, and the scanned bytes', async () => {
    const { workspace, draw } = await openTestWorkspace(500, { find: find('nowhere') });
    workspace.findNext('older');
    await draw();
    expect(workspace.state.find).toMatchObject({ isSearching: false, message: 'No older match in 39.1 KiB' });
    workspace.setFind(null);
    expect(workspace.state.find).toMatchObject({ query: null, message: null });
  });

  it('searches for 20 s, then offers to continue', async () => {
    const { workspace, source, clock, draw } = await openTestWorkspace(5000, { find: find('nowhere') });
    source.scanRecords = 10;
    source.onPage = () => clock.advance(2000);
    workspace.findNext('older');
    await draw();
    expect(workspace.state.find.message).toBe('No older match yet in 9.8 KiB · search on');
  });

  it('can be stopped', async () => {
    const { workspace, source, draw } = await openTestWorkspace(5000, { find: find('nowhere') });
    source.onPage = (_request, signal) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    workspace.findNext('older');
    await draw();
    expect(workspace.state.find.isSearching).toBe(true);
    workspace.stopLoading();
    await draw();
    expect(workspace.state.find).toMatchObject({ isSearching: false, message: null });
  });

  it('pauses following', async () => {
    const { workspace, draw } = await openTestWorkspace(50, { find: find('record 5'), isLive: true });
    workspace.findNext('older');
    await draw();
    expect(workspace.state.follow.state).toBe('paused');
  });

  it('reports an invalid regex at once', async () => {
    const { workspace, draw } = await openTestWorkspace(50, { find: find('a(', { isRegex: true }) });
    await eventually(() => expect(workspace.state.find.message ?? '').toMatch(/^invalid regex: .*missing closing \)/));
    workspace.findNext('older');
    await draw();
    expect(workspace.state.focusedKey).toBeNull();
  });

  it('matches the second of two regexes here, as one request cannot have both', async () => {
    const { workspace, source } = await openTestWorkspace(2000, {
      filter: { regex: 'record 1' },
      find: find('7{2}5', { isRegex: true }),
    });
    workspace.findNext('older');
    await eventually(() => expect(workspace.state.focusedKey).toBe(keyAt(1775)));
    expect(source.requests.every(({ filter }) => filter.regex === 'record 1')).toBe(true);
  });

  it('shows the error of the node', async () => {
    const { workspace, source, draw } = await openTestWorkspace(1000, { find: find('nowhere') });
    source.onPage = () => {
      throw new PortholeError('TOO_MANY_SEARCHES', 'too many at once');
    };
    workspace.findNext('older');
    await draw();
    expect(workspace.state.find).toMatchObject({ isSearching: false, message: 'too many at once' });
  });

  it('searches a gap in between', async () => {
    const { workspace, source, draw } = await openTestWorkspace(10, { isLive: true });
    workspace.pause();
    source.write(2300);
    await draw();
    workspace.resume();
    await draw();
    workspace.setFind(find('record 200'));
    workspace.focus(keyAt(5));
    workspace.findNext('newer');
    await draw();
    expect(workspace.state.focusedKey).toBe(keyAt(200));
  });

  it('ignores a late response', async () => {
    const { workspace, source, draw } = await openTestWorkspace(1000, { find: find('record 7') });
    let respond = () => {};
    source.onPage = () =>
      new Promise<void>((resolve) => {
        respond = resolve;
      });
    workspace.findNext('older');
    await settled();
    workspace.setFind(find('other'));
    source.onPage = () => {};
    respond();
    await draw();
    expect(workspace.state).toMatchObject({ focusedKey: null, find: { isSearching: false } });
  });
});

describe('stepping through levels', () => {
  it('finds the next error among the rows and beyond', async () => {
    const { workspace, source, draw } = await openTestWorkspace(1000, { filter: {} });
    workspace.toLevel('ERROR', 'older');
    await draw();
    expect(workspace.state.focusedKey).toBe(keyAt(999));
    workspace.focus(keyAt(905));
    workspace.toLevel('ERROR', 'older');
    await draw();
    expect(workspace.state.focusedKey).toBe(keyAt(899));
    expect(source.requests[1]).toMatchObject({ limit: 1, filter: { minLevel: 'ERROR' } });
  });

  it('reports that there is none', async () => {
    const { workspace, draw } = await openTestWorkspace(100);
    workspace.toLevel('FATAL', 'newer');
    await draw();
    expect(workspace.state.find.message).toBe('No newer record of level FATAL or higher');
  });
});

const word = { text: 'a.b', isRegex: false, isCaseSensitive: false };

describe('a filter with a search text', () => {
  it.each([
    ['a word', {}, word, { terms: ['a.b'], caseSensitive: false }],
    ['a word beside another', { terms: ['x'] }, word, { terms: ['x', 'a.b'], caseSensitive: false }],
    ['a regex', {}, { ...word, isRegex: true }, { regex: 'a.b', caseSensitive: false }],
    ['a word beside a regex', { regex: 'x' }, word, { regex: 'x', terms: ['a.b'], caseSensitive: false }],
    [
      'a word of another rule about case',
      { excluded: ['x'], caseSensitive: true },
      word,
      { excluded: ['x'], caseSensitive: true, regex: '(?i:a\\.b)' },
    ],
    [
      'a regex of another rule about case',
      { terms: ['x'] },
      { text: 'A|B', isRegex: true, isCaseSensitive: true },
      { terms: ['x'], regex: '(?-i:A|B)' },
    ],
    ['two regexes', { regex: 'x' }, { ...word, isRegex: true }, undefined],
  ])('%s', (_name, filter, query, expected) => {
    expect(withFind(filter, query)).toEqual(expected);
  });
});

describe('a filter with a minimum level', () => {
  it('never matches more', () => {
    expect(withLevel({}, 'WARN')).toEqual({ minLevel: 'WARN' });
    expect(withLevel({ minLevel: 'ERROR' }, 'WARN')).toEqual({ minLevel: 'ERROR' });
    expect(withLevel({ minLevel: 'INFO' }, 'WARN')).toEqual({ minLevel: 'WARN' });
  });
});
