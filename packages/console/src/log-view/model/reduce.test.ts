import { describe, expect, it } from 'vitest';
import type { Page } from '../source/log-source.ts';
import { fakeRecord } from '../testing/fake-source.ts';
import { recordNumbers, upTo } from '../testing/open-workspace.ts';
import { reduce } from './reduce.ts';
import { MAX_RECORDS, recordRow } from './row-buffer.ts';
import { INITIAL, type LogAction, type WorkspaceState } from './workspace-state.ts';

/** A page of numbered records; `next` continues it. */
function page(first: number, last: number, next: string | null = null): Page {
  return {
    records: upTo(first, last).map(fakeRecord),
    next,
    scannedBytes: 100,
    reachedMs: null,
    problems: [],
    duplicates: [],
    members: [],
  };
}

const keyAt = (number: number) => `n1 c${number}`;
const rowsAt = (first: number, last: number) => upTo(first, last).map((number) => recordRow(fakeRecord(number)));
const FOLLOW = { ...INITIAL.follow, state: 'live' } as const;
const GAP = {
  kind: 'gap',
  key: 'gap 1',
  node: null,
  text: 'missing',
  isLoading: false,
  range: { node: null, after: fakeRecord(9), until: fakeRecord(20) },
} as const;

/** Every state on the way is frozen: a reducer that changes one throws. */
function run(actions: readonly LogAction[], start: WorkspaceState = INITIAL): WorkspaceState {
  return actions.reduce((state, action) => freeze(reduce(state, action)), freeze(start));
}

function freeze(state: WorkspaceState): WorkspaceState {
  for (const part of Object.values(state)) Object.freeze(part);
  return Object.freeze(state);
}

const showEnd = (first: number, last: number, next: string | null = 'p'): LogAction[] => [
  { type: 'show-started', position: 'end', nowMs: 0 },
  { type: 'shown', newer: null, older: page(first, last, next), options: { align: 'bottom' } },
];

const showMiddle = (options: LogAction & { type: 'shown' }): LogAction[] => [
  { type: 'show-started', position: { fraction: 0.5 }, nowMs: 0 },
  options,
];

describe('rows at a position', () => {
  it('replace all others and scroll to their target', () => {
    const state = run(showEnd(900, 999));
    expect(recordNumbers(state.rows)).toEqual(upTo(900, 999));
    expect(state).toMatchObject({
      isAtEnd: true,
      generation: 1,
      anchor: { key: keyAt(999), align: 'bottom' },
      top: { kind: 'more' },
      bottom: { kind: 'done' },
      positions: { older: { page: 'p' }, newer: null },
    });
  });

  it('leave a stopped edge stopped when the first page found too little', () => {
    const state = run([
      { type: 'show-started', position: 'end', nowMs: 0 },
      { type: 'loading-stopped' },
      { type: 'shown', newer: null, older: page(990, 999, 'p'), options: { align: 'bottom' } },
    ]);
    expect(state.top).toEqual({ kind: 'stopped', scannedBytes: 100, reachedMs: null });
  });

  it('that cannot be loaded leave nothing but the failure', () => {
    const failure = { code: 'UNREACHABLE', detail: 'no connection', status: null };
    const state = run([...showEnd(900, 999), { type: 'show-failed', failure }]);
    expect(state).toMatchObject({
      rows: [],
      failure,
      anchor: null,
      top: { kind: 'failed' },
      bottom: { kind: 'failed' },
    });
  });

  it('scroll to the target once awaited newer rows are there', () => {
    const options = { align: 'center', near: fakeRecord(500), isFocused: true } as const;
    const shown = run(showMiddle({ type: 'shown', newer: page(1, 0, 'n'), older: page(400, 499), options }));
    expect(shown).toMatchObject({ focusedKey: null, scrollTo: options });
    const state = run([{ type: 'page-loaded', direction: 'newer', page: page(500, 510), next: null }], shown);
    expect(state).toMatchObject({ focusedKey: keyAt(500), scrollTo: null, generation: 2 });
  });
});

describe('a page at an edge', () => {
  const shown = run(showEnd(5000, 5000 + MAX_RECORDS - 1));
  const older: LogAction = {
    type: 'page-loaded',
    direction: 'older',
    page: page(4900, 4999, 'q'),
    next: { page: 'q' },
  };

  it('drops the excess at the other edge, which then continues after the last row', () => {
    const state = run([older], shown);
    expect(recordNumbers(state.rows)).toEqual(upTo(4900, 4900 + MAX_RECORDS - 1));
    expect(state).toMatchObject({
      isAtEnd: false,
      bottom: { kind: 'more' },
      positions: { older: { page: 'q' }, newer: { next: { cursor: `c${4900 + MAX_RECORDS - 1}` } } },
    });
  });

  it('adds to the bytes scanned in its direction', () => {
    const state = run(
      [older, { type: 'edge-changed', direction: 'older', edge: { kind: 'done', scannedBytes: 1 } }],
      shown,
    );
    expect(state.top).toEqual({ kind: 'done', scannedBytes: 200 });
  });
});

describe('followed rows', () => {
  it('are appended at the end of the log only', () => {
    const followed: LogAction = { type: 'followed', rows: rowsAt(1000, 1002), follow: FOLLOW };
    expect(recordNumbers(run([...showEnd(990, 999), followed]).rows)).toEqual(upTo(990, 1002));
    const middle = { type: 'shown', newer: page(11, 20), older: page(1, 10), options: { align: 'top' } } as const;
    const state = run([...showMiddle(middle), followed]);
    expect(recordNumbers(state.rows)).toEqual(upTo(1, 20));
    expect(state.follow).toEqual(FOLLOW);
  });

  it('that waited are shown at the bottom, without a focus', () => {
    const state = run([
      ...showEnd(990, 999),
      { type: 'focused', key: keyAt(995) },
      { type: 'resumed', rows: rowsAt(1000, 1001), follow: FOLLOW },
    ]);
    expect(state).toMatchObject({ focusedKey: null, anchor: { key: keyAt(1001), align: 'bottom' } });
  });
});

describe('a gap', () => {
  const shown = run([
    ...showEnd(0, 9, null),
    { type: 'followed', rows: [GAP, ...rowsAt(20, 25)], follow: FOLLOW },
    { type: 'gap-load-started', key: GAP.key },
  ]);

  it('shrinks by what is loaded', () => {
    expect(shown.rows[10]).toMatchObject({ isLoading: true });
    const state = run([{ type: 'gap-loaded', key: GAP.key, page: page(10, 14, 'p') }], shown);
    expect(recordNumbers(state.rows)).toEqual([...upTo(0, 14), ...upTo(20, 25)]);
    expect(state.rows[15]).toMatchObject({ kind: 'gap', isLoading: false, range: { after: { cursor: 'c14' } } });
  });

  it('disappears with its last record, and its focus', () => {
    const state = run(
      [
        { type: 'focused', key: GAP.key },
        { type: 'gap-loaded', key: GAP.key, page: page(10, 30) },
      ],
      shown,
    );
    expect(recordNumbers(state.rows)).toEqual(upTo(0, 25));
    expect(state).toMatchObject({ focusedKey: null });
    expect(state.rows.every(({ kind }) => kind === 'record')).toBe(true);
  });

  it('that cannot be loaded says why', () => {
    const state = run([{ type: 'gap-load-failed', key: GAP.key, detail: 'timeout' }], shown);
    expect(state.rows[10]).toMatchObject({ isLoading: false, text: 'missing · timeout' });
  });
});

describe('the context of a record', () => {
  const opened = run([
    ...showEnd(10, 10, null),
    { type: 'context-opened', key: keyAt(10) },
    {
      type: 'context-loaded',
      record: fakeRecord(10),
      older: upTo(8, 9).map(fakeRecord),
      newer: upTo(11, 12).map(fakeRecord),
    },
  ]);

  it('is shown around it', () => {
    expect(recordNumbers(opened.rows)).toEqual(upTo(8, 12));
    expect(opened).toMatchObject({ contextKey: keyAt(10), focusedKey: keyAt(10) });
  });

  it('is removed again, and the focus returns to the record', () => {
    const state = run([{ type: 'focused', key: keyAt(12) }, { type: 'context-closed' }], opened);
    expect(recordNumbers(state.rows)).toEqual([10]);
    expect(state).toMatchObject({ contextKey: null, focusedKey: keyAt(10) });
  });
});

describe('finding', () => {
  const query = { text: 'x', isRegex: false, isCaseSensitive: false };

  it('counts anew with another query, and forgets the index when the focus moves', () => {
    const counted = run([
      { type: 'find-changed', query },
      { type: 'matches-counted', total: 7 },
      { type: 'match-reached', index: 3 },
    ]);
    expect(counted.find).toMatchObject({ query, index: 3, total: 7 });
    expect(run([{ type: 'focused', key: null }], counted).find).toMatchObject({ index: null, total: 7 });
    expect(run([{ type: 'matches-counted', total: null }], counted).find).toMatchObject({ index: null, total: null });
  });

  it('keeps the message of a search until the next one starts', () => {
    const ended = run([{ type: 'find-started' }, { type: 'find-ended' }, { type: 'find-reported', message: 'none' }]);
    expect(ended.find).toMatchObject({ isSearching: false, message: 'none' });
    expect(run([{ type: 'find-started' }], ended).find).toMatchObject({ isSearching: true, message: null });
  });
});

describe('opening', () => {
  it('starts afresh, but generations keep counting', () => {
    const state = run([...showEnd(1, 9), { type: 'opened', filter: { minLevel: 'WARN' } }]);
    expect(state).toEqual({ ...INITIAL, generation: 1, filter: { minLevel: 'WARN' } });
  });
});
