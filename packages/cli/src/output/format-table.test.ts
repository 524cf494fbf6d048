import pico from 'picocolors';
import { describe, expect, it } from 'vitest';
import { type Column, cutMiddle, displayWidth } from './fit-columns.ts';
import { formatTable } from './format-table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'NAME', minWidth: 8 },
  { title: 'SIZE', align: 'right' },
  { title: 'STATE', hideRank: 1 },
  { title: 'FORMAT', hideRank: 2 },
  { title: 'TEXT' },
];
const ROWS = [
  ['node-1/broker.log', '9 B', 'live', 'contract', 'a long text that need not be seen'],
  ['日本語.log', '123 KiB', 'rotated', 'iso', 'short'],
];

function table(columns: number): { lines: string[]; notes: string[] } {
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  const text = formatTable(COLUMNS, ROWS, { colors: pico.createColors(false), columns, note });
  return { lines: text.trimEnd().split('\n'), notes };
}

describe('a table', () => {
  it('has all columns where there is room', () => {
    const { lines, notes } = table(Number.POSITIVE_INFINITY);
    expect(lines).toEqual([
      'NAME                  SIZE  STATE    FORMAT    TEXT',
      'node-1/broker.log      9 B  live     contract  a long text that need not be seen',
      '日本語.log         123 KiB  rotated  iso       short',
    ]);
    expect(notes).toEqual([]);
  });

  it.each([79, 70, 60, 50, 40, 31])('fits %d columns', (columns) => {
    for (const line of table(columns).lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
  });

  it('truncates the last column, then names in the middle, then leaves out columns and says which', () => {
    expect(table(60).lines[1]).toBe('node-1/broker.log      9 B  live     contract  a long text …');
    expect(table(55).lines[1]).toBe('node-1…er.log      9 B  live     contract  a long text…');
    const { lines, notes } = table(40);
    expect(lines[1]).toBe('node…log      9 B  live     a long text…');
    expect(notes).toEqual(['the terminal is too narrow for: FORMAT']);
  });
});

it.each([
  ['abcdef', 6, 'abcdef'],
  ['abcdef', 5, 'ab…ef'],
  ['abcdef', 1, '…'],
  ['日本語日本語', 7, '日本…語'],
])('%s cut to %d is %s', (text, width, cut) => {
  expect(cutMiddle(text, width)).toBe(cut);
});
