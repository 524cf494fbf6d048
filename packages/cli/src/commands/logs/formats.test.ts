import type { LogFileDetails } from '@porthole/logs';
import pico from 'picocolors';
import { expect, it } from 'vitest';
import type { Terminal } from '../../output/terminal.ts';
import { formatFile } from './formats.ts';

const FILE: LogFileDetails = {
  ...{ name: 'app.log', size: 9, family: 'app.log', state: 'live', compressed: false, format: 'iso', problem: null },
  ...{ modifiedMs: 0, firstTimeMs: null, lastTimeMs: null },
  learned: {
    facts: [
      { label: 'Format', text: 'iso: learned from its lines' },
      { label: 'Time', text: '2026-11-17 18:33:04 · yyyy-MM-dd HH:mm:ss · at the start of the line · 2 records' },
      { label: 'Zone', text: 'UTC, assumed: the timestamps have none', doubt: true },
    ],
    samples: [
      [
        { kind: 'time', text: '2026-11-17 18:33:04' },
        { kind: 'other', text: ' ' },
        { kind: 'level', text: 'WARN' },
        { kind: 'other', text: ' [' },
        { kind: 'origin', text: 'cards' },
        { kind: 'other', text: ']\t' },
        { kind: 'message', text: 'a message that is longer than the terminal is wide' },
      ],
    ],
    unfit: [`\u001b]0;evil\u0007 ${'x'.repeat(100)}`],
    example: '[[log.formats]]\nname = "own-app-log"\n',
  },
};

function format(columns: number, { color = false, file = FILE, withExample = false } = {}): string[] {
  const terminal = { colors: pico.createColors(color), columns } as Terminal;
  return formatFile(file, terminal, { withExample }).trimEnd().split('\n');
}

it('is readable without colours at 60 columns', () => {
  const lines = format(60);
  expect(lines).toEqual([
    'app.log',
    '  Format  iso: learned from its lines',
    '  Time    2026-11-17 18:33:04 · yyyy-MM-dd HH:mm:ss · at',
    '          the start of the line · 2 records',
    '  Zone    UTC, assumed: the timestamps have none',
    '',
    '  Samples',
    '    2026-11-17 18:33:04 WARN [cards] a message that is longe',
    '    time--------------- lvl-  orig-  message----------------',
    '    r than the terminal is wide',
    '    ---------------------------',
    '',
    '  Lines that do not fit, and continue the record above',
    '  them',
    `    \\x1b]0;evil\\x07 ${'x'.repeat(39)}…`,
  ]);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
});

it('marks parts and doubts with colours where there are some', () => {
  const { cyan, yellow, magenta } = pico.createColors(true);
  const text = format(80, { color: true }).join('\n');
  for (const part of [cyan('2026-11-17 18:33:04'), yellow('WARN'), magenta('cards')]) expect(text).toContain(part);
  expect(text).toContain(yellow('UTC, assumed: the timestamps have none'));
  expect(text).not.toContain('time---');
});

it('ends with an example of a format for a single file', () => {
  expect(format(200, { withExample: true }).slice(-4)).toEqual([
    '  To read it differently, add a format to the settings file (docs/formats.md):',
    '',
    '[[log.formats]]',
    'name = "own-app-log"',
  ]);
});

it('says why nothing is known', () => {
  const { learned: _learned, ...file } = FILE;
  expect(format(200, { file })).toEqual(['app.log', '  iso: the node does not report more; update it']);
  expect(format(200, { file: { ...file, problem: 'permission denied' } })[1]).toBe('  permission denied');
});
