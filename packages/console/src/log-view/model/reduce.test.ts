import type { MemberReport } from '@porthole/client';
import { respondedText } from '@porthole/contract';
import { describe, expect, it, test } from 'vitest';
import type { Page } from '../source/log-source.ts';
import { fakeRecord } from '../testing/fake-source.ts';
import { recordNumbers, upTo } from '../testing/open-workspace.ts';
import {
  addPage,
  appendLive,
  changed,
  closeContext,
  insertAround,
  reportMembers,
  showPages,
  startShowing,
  updateGap,
  withRecordedRows,
} from './reduce.ts';
import { recordRow } from './row-buffer.ts';
import { INITIAL, type RequestKind, type Row, type WorkspaceState } from './workspace-state.ts';

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
const GAP = {
  kind: 'gap',
  key: 'gap 1',
  node: null,
  text: 'missing',
  isLoading: false,
  range: { node: null, after: fakeRecord(9), until: fakeRecord(20) },
} as const;

type Change = (state: WorkspaceState) => Partial<WorkspaceState>;

/** Every state on the way is frozen: a change in place throws. */
function run(changes: readonly Change[], start: WorkspaceState = INITIAL): WorkspaceState {
  return changes.reduce((state, make) => freeze(changed(state, make(state))), freeze(start));
}

function freeze(state: WorkspaceState): WorkspaceState {
  for (const part of Object.values(state)) Object.freeze(part);
  return Object.freeze(state);
}

const showEnd = (first: number, last: number): Change[] => [
  () => startShowing('end', 0),
  (state) => showPages(state, { newer: null, older: page(first, last), options: { align: 'bottom' } }),
];

describe('rows at a position', () => {
  it('scroll to the target once awaited newer rows are there', () => {
    const options = { align: 'center', near: fakeRecord(500), isFocused: true } as const;
    const shown = run([
      () => startShowing({ timeMs: 0 }, 0),
      (state) => showPages(state, { newer: page(1, 0, 'n'), older: page(400, 499), options }),
    ]);
    expect(shown).toMatchObject({ focusedKey: null, scrollTo: options });
    const state = run([(before) => addPage(before, 'newer', page(500, 510), null)], shown);
    expect(state).toMatchObject({ focusedKey: keyAt(500), scrollTo: null, generation: 2 });
  });
});

describe('a gap', () => {
  const shown = run([
    ...showEnd(0, 9),
    (state) => appendLive(state, [GAP, ...rowsAt(20, 25)]),
    (state) => updateGap(state, GAP.key),
  ]);

  it('that cannot be loaded says why', () => {
    const failing = (before: WorkspaceState) => updateGap(before, GAP.key, 'timeout');
    const state = run([failing, failing], shown);
    expect(state.rows[10]).toMatchObject({ isLoading: false, text: 'missing', failure: 'timeout' });
  });
});

describe('the context of a record', () => {
  const others = { older: upTo(8, 9).map(fakeRecord), newer: upTo(11, 12).map(fakeRecord) };
  const shown = run([
    ...showEnd(10, 10),
    () => ({ contextKey: keyAt(10), focusedKey: keyAt(10) }),
    ({ buffer }) => ({ buffer: insertAround(buffer, fakeRecord(10), others) }),
  ]);

  it('is shown around it', () => {
    expect(recordNumbers(shown.rows)).toEqual(upTo(8, 12));
  });

  it('is removed again, and the focus returns to the record', () => {
    const state = run([() => ({ focusedKey: keyAt(12) }), closeContext], shown);
    expect(recordNumbers(state.rows)).toEqual([10]);
    expect(state).toMatchObject({ contextKey: null, focusedKey: keyAt(10) });
  });
});

function row(node: string, atMs: number): Row {
  const record = { type: 'record', node, file: 'a.log', offset: atMs, bytes: 1, cursor: `${atMs}`, message: '', atMs };
  return { kind: 'record', key: `${node} ${atMs}`, record } as Row;
}

const OK: MemberReport = { id: 'a', outcome: 'ok', detail: null, elapsedMs: 1, count: 1, asOfMs: null };
const GONE: MemberReport = { ...OK, id: 'b', outcome: 'gone', asOfMs: 20, sinceMs: 30 };
const ROWS = [row('a', 10), row('b', 20), row('a', 25), row('a', 40)];
const keys = (rows: readonly Row[]) => rows.map(({ key }) => key);

test('the lines of a node that stopped responding end with a notice', () => {
  const rows = withRecordedRows(ROWS, [OK, GONE], { bottom: 'done' });
  expect(keys(rows)).toEqual(['a 10', 'b 20', 'recorded b', 'a 25', 'a 40']);
  expect(rows[2]).toMatchObject({
    kind: 'gap',
    node: 'b',
    text: 'stopped responding',
    recorded: { asOfMs: 20, sinceMs: 30 },
  });
});

test('the notice is before newer rows, or after older ones if there are no more', () => {
  expect(keys(withRecordedRows(ROWS.slice(2), [GONE], { bottom: 'done' }))).toEqual(['recorded b', 'a 25', 'a 40']);
  expect(keys(withRecordedRows(ROWS.slice(0, 2), [GONE], { bottom: 'done' }))).toEqual(['a 10', 'b 20', 'recorded b']);
  expect(keys(withRecordedRows(ROWS.slice(0, 2), [GONE], { bottom: 'more' }))).toEqual(['a 10', 'b 20']);
});

test('rows of responding nodes are unchanged', () => {
  expect(withRecordedRows(ROWS, [OK], { bottom: 'done' })).toBe(ROWS);
  expect(withRecordedRows([], [GONE], { bottom: 'done' })).toEqual([]);
});

test('a range that ends before the last record of a node has no notice', () => {
  expect(keys(withRecordedRows(ROWS.slice(0, 1), [GONE], { bottom: 'done', toMs: 15 }))).toEqual(['a 10']);
});

test('a node that only the archive knows has a notice between its lines and newer ones, and nowhere else', () => {
  const archive = { count: 1, beforeMs: null, shippedFromMs: 1, shippedToMs: 20, lostBytes: 0 };
  const past: MemberReport = { ...OK, id: 'b', outcome: 'left', state: 'left', asOfMs: 20, sinceMs: null, archive };
  const rows = withRecordedRows(ROWS, [past], { bottom: 'done' });
  expect(keys(rows)).toEqual(['a 10', 'b 20', 'recorded b', 'a 25', 'a 40']);
  expect(keys(withRecordedRows(ROWS.slice(2), [past], { bottom: 'done' }))).toEqual(['a 25', 'a 40']);
  expect(keys(withRecordedRows(ROWS.slice(0, 2), [past], { bottom: 'done' }))).toEqual(['a 10', 'b 20']);
});

type Outcome = MemberReport['outcome'];

/** The state after the members have reported on a request. */
function report(state: WorkspaceState, kind: RequestKind, outcomes: Readonly<Record<string, Outcome>>): WorkspaceState {
  const reports = Object.entries(outcomes).map(
    ([id, outcome]): MemberReport => ({ id, outcome, detail: null, elapsedMs: 0, count: 0, asOfMs: null }),
  );
  return changed(state, reportMembers(state, kind, reports));
}

const outcomes = ({ members }: WorkspaceState) => members.map(({ id, outcome }) => `${id} ${outcome}`);

it('a member lost while following is reported until it is followed again', () => {
  const loaded = report(INITIAL, 'page', { a: 'ok' });
  const lost = report(loaded, 'follow', { a: 'refused' });
  expect(outcomes(lost)).toEqual(['a refused']);
  expect(outcomes(report(lost, 'page', { a: 'ok' }))).toEqual(['a refused']);
  expect(outcomes(report(lost, 'follow', { a: 'ok' }))).toEqual(['a ok']);
});

it('a member that one request has read has responded, although another one took too long', () => {
  const page: MemberReport = { id: 'a', outcome: 'ok', detail: null, elapsedMs: 0, count: 7, asOfMs: null };
  const loaded = changed(INITIAL, reportMembers(INITIAL, 'page', [page]));
  const { members } = report(loaded, 'count', { a: 'timeout' });
  expect(members).toMatchObject([{ outcome: 'timeout', count: 7 }]);
  expect(respondedText(members)).toBe('1 of 1 nodes responded, all of them in part');
  expect(respondedText(report(INITIAL, 'count', { a: 'timeout' }).members)).toBe('0 of 1 nodes responded');
});
