import { describe, expect, it } from 'vitest';
import { fakeRecord } from '../testing/fake-source.ts';
import { openTestWorkspace } from '../testing/open-workspace.ts';
import { foldRows, lastOf, shownIndex } from './fold-rows.ts';
import { recordRow } from './row-buffer.ts';
import type { RecordRow, Row } from './workspace-state.ts';

const RULES = { focusedKey: null, expanded: new Set<string>(), matcher: null };

/** Rows with these messages, each with its index as its number. */
function rowsOf(...messages: string[]): RecordRow[] {
  return messages.map((message, index) => recordRow({ ...fakeRecord(index), level: 'INFO', message, raw: message }));
}

/** `0 1×3 4`: the number of each shown row, and how many it stands for. */
function text(rows: readonly Row[]): string {
  const number = ({ key }: Row) => key.replace('n1 c', '');
  return rows
    .map((row) => (row.kind === 'record' && row.folded ? `${number(row)}×${row.folded.length}` : number(row)))
    .join(' ');
}

describe('repeated lines', () => {
  it.each([
    [
      'numbers may differ',
      ['a', 'retry 1 of 10.0.0.7:90', 'retry 2 of 10.0.0.8:91', 'retry 33 of 10.0.0.9:1', 'b'],
      '0 1×3 4',
    ],
    ['ids may differ', ['req=7f3a', 'req=81bc', 'req=0c'], '0×3'],
    ['words may not', ['user ann', 'user bob', 'user cy'], '0 1 2'],
    ['two are shown', ['a 1', 'a 2', 'b 1'], '0 1 2'],
    ['one in between ends a run', ['a 1', 'a 2', 'a 3', 'b', 'a 4', 'a 5', 'a 6'], '0×3 3 4×3'],
    ['far into a line, all must be the same', [1, 2, 3].map((n) => `${'x '.repeat(300)}${n}`), '0 1 2'],
  ])('%s', (_, messages, shown) => {
    expect(text(foldRows(rowsOf(...messages), RULES))).toBe(shown);
  });

  it('are of one node and one level', () => {
    const [a, b, c, d, e, f] = rowsOf('x 1', 'x 2', 'x 3', 'x 4', 'x 5', 'x 6') as [
      RecordRow,
      RecordRow,
      RecordRow,
      RecordRow,
      RecordRow,
      RecordRow,
    ];
    const rows = [
      a,
      b,
      { ...c, record: { ...c.record, node: 'n2' } },
      d,
      e,
      { ...f, record: { ...f.record, level: 'WARN' as const } },
    ];
    expect(text(foldRows(rows, RULES))).toBe('0 1 2 3 4 5');
  });

  it('are the same rows if nothing is repeated', () => {
    const rows = rowsOf('a', 'b', 'c');
    expect(foldRows(rows, RULES)).toBe(rows);
  });

  it('are not folded across a notice, nor with the context of another record, nor with half a line', () => {
    const [a, b, c, d] = rowsOf('x 1', 'x 2', 'x 3', 'x 4') as [RecordRow, RecordRow, RecordRow, RecordRow];
    const event: Row = { kind: 'event', key: 'event 1', node: null, text: 'rotated', isProblem: false };
    expect(text(foldRows([a, b, event, c, d], RULES))).toBe('0 1 event 1 2 3');
    expect(text(foldRows([a, b, { ...c, isContext: true }, d], RULES))).toBe('0 1 2 3');
    expect(text(foldRows([a, b, { ...c, record: { ...c.record, unfinished: true } }], RULES))).toBe('0 1 2');
  });

  it('never hide the focused row or a match', () => {
    const rows = rowsOf(...Array.from({ length: 10 }, (_, index) => `x ${index}`));
    expect(text(foldRows(rows, { ...RULES, focusedKey: 'n1 c4' }))).toBe('0×4 4×6');
    const matcher = (line: string) => (line === 'x 5' ? [{ start: 0, end: 1 }] : []);
    expect(text(foldRows(rows, { ...RULES, matcher }))).toBe('0×5 5 6×4');
  });

  it('are found by any of their keys', () => {
    const shown = foldRows(rowsOf('a', 'x 1', 'x 2', 'x 3', 'b'), RULES);
    expect(['n1 c0', 'n1 c2', 'n1 c4', 'n1 c9', null].map((key) => shownIndex(shown, key))).toEqual([0, 1, 2, -1, -1]);
    expect(shown.map((row) => lastOf(row).key)).toEqual(['n1 c0', 'n1 c3', 'n1 c4']);
  });
});

describe('a workspace that folds', () => {
  /** Records 0 to 99: each tenth is an error, each other fifth a warning, four at a time are the same. */
  const open = async () => {
    const opened = await openTestWorkspace(100);
    opened.workspace.setFolding(true);
    return { ...opened, shown: () => text(opened.workspace.state.shown.slice(-6)) };
  };

  it('steps over what is folded', async () => {
    const { workspace, shown } = await open();
    expect(shown()).toBe('85×4 89 90×4 94 95×4 99');
    workspace.focus('n1 c99');
    workspace.moveFocus(-1);
    expect(workspace.state.focusedKey).toBe('n1 c95');
    workspace.moveFocus(-1);
    expect(workspace.state.focusedKey).toBe('n1 c94');
    expect(shown()).toBe('85×4 89 90×4 94 95×4 99');
  });

  it('opens and closes a run in place', async () => {
    const { workspace, shown } = await open();
    workspace.toggle('n1 c95');
    expect(shown()).toBe('94 95×4 96 97 98 99');
    expect(workspace.state.shown.find(({ key }) => key === 'n1 c95')).toMatchObject({ isOpened: true });
    workspace.toggle('n1 c95');
    expect(shown()).toBe('85×4 89 90×4 94 95×4 99');
    workspace.toggle('n1 c95', 'lines');
    expect([...workspace.state.expanded]).toEqual(['n1 c95']);
    workspace.setFolding(false);
    expect(workspace.state.shown).toBe(workspace.state.rows);
  });

  it('shows the matches of a search, and the next line of a level behind a run', async () => {
    const { workspace, draw, shown } = await open();
    workspace.setFind({ text: 'record 97', isRegex: false, isCaseSensitive: false });
    await draw();
    expect(shown()).toBe('94 95 96 97 98 99');
    workspace.setFind(null);
    workspace.focus('n1 c95');
    workspace.toLevel('INFO', 'older');
    await draw();
    expect(workspace.state.focusedKey).toBe('n1 c94');
  });

  it('keeps a run that grows in one row', async () => {
    const { workspace, source, draw, shown } = await openTestWorkspace(98, { isLive: true }).then((opened) => {
      opened.workspace.setFolding(true);
      return { ...opened, shown: () => text(opened.workspace.state.shown.slice(-2)) };
    });
    await draw();
    expect(shown()).toBe('94 95×3');
    source.write(1);
    await draw();
    expect(shown()).toBe('94 95×4');
    expect(workspace.state.follow.state).toBe('live');
  });
});
