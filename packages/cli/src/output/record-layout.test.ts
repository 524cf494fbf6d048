import { createZone } from '@porthole/logs';
import pico from 'picocolors';
import { describe, expect, it } from 'vitest';
import { displayWidth } from './fit-columns.ts';
import type { PrintableRecord } from './record-layout.ts';
import {
  ColumnReader,
  CsvLayout,
  csvRow,
  type LayoutOptions,
  parseTemplate,
  TableLayout,
  TemplateLayout,
  templateColumns,
} from './record-layout.ts';

const RECORD: PrintableRecord = {
  type: 'record',
  file: 'broker.log',
  offset: 0,
  bytes: 80,
  cursor: 'c1',
  timeMs: Date.UTC(2026, 10, 15, 5, 0, 0, 123),
  level: 'ERROR',
  source: 'query/exec.go:12',
  tags: ['Query', 'Exec'],
  message: 'query failed: "timeout",\nafter 3 tries',
  fields: { shard: 13, 'http.status': 500, ids: [1, 2], big: '12345678901234567890', ok: false, none: null, empty: '' },
};
const { level: _level, source: _source, tags: _tags, fields: _fields, ...rest } = RECORD;
const BARE: PrintableRecord = { ...rest, message: 'ready' };

const DEFAULTS = ['time', 'level', 'source', 'component', 'message'];

function options(columns: readonly string[], terminal: Partial<LayoutOptions['terminal']> = {}, isChosen = true) {
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  const piped = { colors: pico.createColors(false), columns: Number.POSITIVE_INFINITY, isTty: false, note };
  const reader = new ColumnReader(columns, createZone('UTC'));
  return { columns, isChosen, reader, terminal: { ...piped, ...terminal }, notes };
}

describe('CSV', () => {
  it('is RFC 4180: a header, CRLF, quotes where needed, the exact text', () => {
    const columns = ['time', 'level', 'file', 'message', 'shard', 'ids', 'big', 'ok', 'none', 'empty', 'absent'];
    const layout = new CsvLayout(options(columns));
    expect(layout.format([RECORD, BARE])).toBe(
      'time,level,file,message,shard,ids,big,ok,none,empty,absent\r\n' +
        '2026-11-15T05:00:00.123Z,ERROR,broker.log,"query failed: ""timeout"",\nafter 3 tries",13,"[1,2]",12345678901234567890,false,null,"",\r\n' +
        '2026-11-15T05:00:00.123Z,,broker.log,ready,,,,,,,\r\n',
    );
    expect(layout.format([BARE])).not.toContain('time,level');
    expect(layout.end()).toBe('');
    expect(layout.absent).toEqual(['absent']);
  });

  it('has its header also without records, once', () => {
    const layout = new CsvLayout(options(DEFAULTS));
    expect(layout.format([])).toBe('');
    expect(layout.end() + layout.end()).toBe('time,level,source,component,message\r\n');
  });

  it('has no carriage returns on a terminal, which would show them', () => {
    expect(new CsvLayout(options(['level'], { isTty: true })).format([RECORD])).toBe('level\nERROR\n');
  });

  it('has no empty line: it would be read as no row', () => {
    expect(csvRow([undefined])).toBe('""\r\n');
    expect(csvRow([undefined, undefined])).toBe(',\r\n');
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ['+49 30 123', "'+49 30 123"],
    ['-2+3', "'-2+3"],
    ["-1|cmd|' /C calc'!A0", "'-1|cmd|' /C calc'!A0"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\uff1d1', "'\uff1d1"],
    [' \u00a0=1', "' \u00a0=1"],
    ['\ufeff=1', "'\ufeff=1"],
    ['\0=1', "'\0=1"],
    ['"=1"', `"'""=1"""`],
    ["'=1", "''=1"],
    ['\tx', "'\tx"],
    ['\rx', `"'\rx"`],
    ['\nx', `"'\nx"`],
    ['--', "'--"],
  ])('has no cell that a spreadsheet would calculate: %j', (text, cell) => {
    expect(csvRow([text, text])).toBe(`${cell},${cell}\r\n`);
  });

  it.each([
    '-5',
    '+5',
    '-1.5',
    '-.5',
    '-3e-7',
    '+2E10',
    ' -5 ',
    '-',
    '2026-11-15T05:00:00.123Z',
    'a=b',
    'x -5',
    '12:00',
  ])('leaves numbers, times and other texts alone: %j', (text) => {
    expect(csvRow([text])).toBe(`${text}\r\n`);
  });

  it('also names its columns so that none is calculated', () => {
    expect(new CsvLayout(options(['=1+1'])).end()).toBe("'=1+1\r\n");
  });
});

describe('a table of records', () => {
  it('aligns columns by the first records; later ones may be wider', () => {
    const layout = new TableLayout(options(['level', 'shard', 'message']));
    expect(layout.format([RECORD, BARE])).toBe(
      'LEVEL  shard  MESSAGE\n' + 'ERROR  13     query failed: "timeout", after 3 tries\n' + '-      -      ready\n',
    );
    const wide = { ...RECORD, fields: { shard: 'a-long-name' } };
    expect(layout.format([wide, BARE])).toBe(
      'ERROR  a-long-name  query failed: "timeout", after 3 tries\n' + '-      -      ready\n',
    );
  });

  it.each([120, 80, 60, 40])('fits %d columns', (columns) => {
    const { notes, ...given } = options(DEFAULTS, { columns, isTty: true }, false);
    const lines = new TableLayout(given).format([RECORD, BARE]).trimEnd().split('\n');
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
    expect(lines[0]).toContain('MESSAGE');
    expect(lines[1]).toContain(columns < 72 ? '11-15 05:00:00' : '2026-11-15 05:00:00.123');
    expect(notes).toEqual(
      columns === 40
        ? ['the terminal is too narrow for: SOURCE, COMPONENT']
        : columns === 60
          ? ['the terminal is too narrow for: SOURCE']
          : [],
    );
  });

  it('leaves out no column that was asked for', () => {
    const { notes, ...given } = options([...DEFAULTS, 'shard'], { columns: 40, isTty: true });
    const [header = ''] = new TableLayout(given).format([RECORD]).split('\n');
    expect(header).toMatch(/^TIME +LEVEL +SOURCE +COM…NT +…$/);
    expect(notes).toEqual([]);
  });
});

describe('a template', () => {
  it('is filled with columns and fields', () => {
    const parts = parseTemplate('{{{level}}} {shard}@{file} {http.status}{absent}: {component}');
    const layout = new TemplateLayout(parts, options(templateColumns(parts)));
    expect(layout.format([RECORD, BARE])).toBe('{ERROR} 13@broker.log 500: Query Exec\n{} @broker.log : \n');
    expect(layout.absent).toEqual(['absent']);
  });

  it.each([
    ['{time', 'at character 1: "{" is not closed; write {{ for a brace\n  {time\n  ^'],
    ['a } b', 'at character 3: "}" closes nothing; write }} for a brace\n  a } b\n    ^'],
    ['x {}', 'at character 4: expected a name like {time} or {shard}\n  x {}\n     ^'],
    ['日本 {a b}', 'at character 5: a name has no white space\n  日本 {a b}\n        ^'],
  ])('%j is refused at its character', (template, message) => {
    expect(() => parseTemplate(template)).toThrow(`invalid --template ${message}`);
  });
});
