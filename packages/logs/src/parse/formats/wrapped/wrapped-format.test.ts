import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { BUILT_IN_FORMATS } from '../../detect-format.ts';
import type { Format, RecordFields } from '../../format.ts';
import { createZone } from '../../zone.ts';
import { unescapeText } from './json-text.ts';

const FIXTURES = new URL('../../fixtures/', import.meta.url);
const WRITTEN_MS = Date.parse('2026-11-15T00:30:00Z');
const OPTIONS = { zone: createZone('Asia/Shanghai'), writtenMs: WRITTEN_MS };
const OUTER_MS = Date.parse('2026-11-14T20:00:00.123Z');

interface ReadRecord extends RecordFields {
  lines: string[];
  isHead: boolean;
}

function readRecords(text: string, format: Format): ReadRecord[] {
  const records: { lines: string[]; isHead: boolean }[] = [];
  for (const line of text.split('\n').slice(0, -1)) {
    const bytes = Buffer.from(`${line}\n`);
    const isHead = format.readHead(bytes, 0, bytes.length, { timeMs: 0, rank: 0 });
    if (isHead || records.length === 0) records.push({ lines: [], isHead });
    records.at(-1)?.lines.push(line);
  }
  return records.map((record) => {
    const bytes = Buffer.from(record.lines.map((line) => `${line}\n`).join(''));
    return { ...record, ...format.decode(bytes, 0, bytes.length) };
  });
}

const WRAPPERS = {
  docker: (line: string, time: string) => JSON.stringify({ log: `${line}\n`, stream: 'stderr', time }),
  cri: (line: string, time: string) => `${time} stderr F ${line}`,
};

/** What a record is inside the lines of a container. */
function expectedRecord({ lines, isHead, ...fields }: ReadRecord) {
  const { timeMs, context, contextText } = fields;
  const isAdded = !Object.hasOwn(context ?? {}, 'stream');
  return {
    lines: lines.length,
    ...fields,
    ...(isHead && timeMs === undefined && { timeMs: OUTER_MS }),
    ...(isAdded && { context: { ...context, stream: 'stderr' } }),
    ...(isAdded && contextText !== undefined && { contextText: `${contextText.slice(0, -1)},"stream":"stderr"}` }),
  };
}

const names = readdirSync(FIXTURES).filter((name) => name.endsWith('.log') && !/^(docker|cri)-/.test(name));

describe.each(['docker', 'cri'] as const)('inside lines of %s', (wrapper) => {
  test.each(names)('%s has the same records', (name) => {
    const text = readFileSync(new URL(name, FIXTURES), 'utf8').replaceAll('\r\n', '\n').replace(/\n?$/, '\n');
    const inner = BUILT_IN_FORMATS.detect(Buffer.from(text), OPTIONS);
    const records = readRecords(text, inner);
    const wrapped = records
      .flatMap(({ lines, timeMs = OUTER_MS }) =>
        lines.map((line) => `${WRAPPERS[wrapper](line, new Date(timeMs).toISOString())}\n`),
      )
      .join('');
    const format = BUILT_IN_FORMATS.detect(Buffer.from(wrapped), OPTIONS);
    expect(format.name).toBe(`${wrapper}+${inner.name}`);
    const read = readRecords(wrapped, format).map(({ isHead: _isHead, lines, ...fields }) => ({
      lines: lines.length,
      ...fields,
    }));
    expect(read).toEqual(records.map(expectedRecord));
  });
});

describe('the time of a line in a container', () => {
  const timeOf = (line: string, time: string, name: 'cri+iso' | 'cri+clock-first' | 'cri+json') => {
    const bytes = Buffer.from(WRAPPERS.cri(line, time));
    const format = BUILT_IN_FORMATS.detect(bytes, OPTIONS);
    expect(format.name).toBe(name);
    return new Date(format.decode(bytes, 0, bytes.length).timeMs ?? 0).toISOString();
  };

  it.each([
    ['has a zone', '2026-11-15T05:00:00Z x', '2026-11-15T10:00:00.1Z', 'cri+iso', '2026-11-15T05:00:00.000Z'],
    ['is epoch', '{"ts":1794718800,"msg":"x"}', '2026-11-15T10:00:00.1Z', 'cri+json', '2026-11-15T05:00:00.000Z'],
    ['is in UTC', '2026-11-15 10:00:00 x', '2026-11-15T10:00:02Z', 'cri+iso', '2026-11-15T10:00:00.000Z'],
    ['is in the zone', '2026-11-15 10:00:00 x', '2026-11-15T02:00:00.1Z', 'cri+iso', '2026-11-15T02:00:00.000Z'],
    ['is of another day', '2026-11-10 10:00:00 x', '2026-11-15T10:00:00Z', 'cri+iso', '2026-11-10T02:00:00.000Z'],
    ['has no date', '10:00:00.5 [a] INFO b - x', '2026-03-01T10:00:01Z', 'cri+clock-first', '2026-03-01T10:00:00.500Z'],
    ['is missing', '{"msg":"x"}', '2026-11-15T10:00:00.1Z', 'cri+json', '2026-11-15T10:00:00.100Z'],
  ] as const)('that %s', (_, line, time, name, expected) => {
    expect(timeOf(line, time, name)).toBe(expected);
  });
});

test('text is unescaped as JSON.parse does', () => {
  const escapeAll = (json: string) =>
    json.replace(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.boolean(), (text, isAscii) => {
      const json = JSON.stringify(text);
      const bytes = Buffer.from(isAscii ? escapeAll(json) : json);
      const target = Buffer.alloc(bytes.length);
      const written = unescapeText(bytes, 1, bytes.length, { target });
      expect(target.toString('utf8', 0, written)).toBe(text);
    }),
  );
});
