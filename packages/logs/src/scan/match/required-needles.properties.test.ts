import { readdirSync, readFileSync } from 'node:fs';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Needle, ScanKernel } from '../../kernel/scan-kernel.ts';
import { BUILT_IN_FORMATS, createFormat } from '../../parse/detect-format.ts';
import type { Format, RecordFields } from '../../parse/format.ts';
import { levelRank } from '../../parse/level.ts';
import { createZone } from '../../parse/zone.ts';
import { slowMatches, slowNames, slowValues } from '../../testing/slow-query.ts';
import type { FieldNode, QueryNode } from '../../types.ts';
import { RecordMatcher } from './record-matcher.ts';
import { requiredNeedles } from './required-needles.ts';

const FIXTURES = new URL('../../parse/fixtures/', import.meta.url);
const OPTIONS = { zone: createZone('UTC'), writtenMs: Date.parse('2026-11-15T00:30:00Z') };

const kernel = new ScanKernel();

interface Subject {
  bytes: Buffer;
  fields: RecordFields;
  text: string;
}

/** The records of a file. */
function readRecords(bytes: Buffer, format: Format): Subject[] {
  const starts: number[] = [];
  for (let start = 0; start < bytes.length; start = bytes.indexOf(10, start) + 1 || bytes.length) {
    const end = bytes.indexOf(10, start) + 1 || bytes.length;
    if (starts.length === 0 || format.readHead(bytes, start, end, { timeMs: 0, rank: 0 })) starts.push(start);
  }
  return starts.map((start, index) => {
    const record = bytes.subarray(start, starts[index + 1] ?? bytes.length);
    return { bytes: record, fields: format.decode(record, 0, record.length), text: record.toString() };
  });
}

/** Conditions that the record satisfies. */
function conditionsOf({ fields }: Subject): QueryNode[] {
  return slowNames(fields).flatMap((field): QueryNode[] => [
    { kind: 'exists', field },
    ...slowValues(fields, field).flatMap((value): FieldNode[] => {
      const node: FieldNode = { kind: 'field', field, operator: '=', value };
      const word = /[\p{L}\p{N}_]+/u.exec(value)?.[0] ?? value;
      return [
        node,
        { ...node, value: /^\d+$/.test(value) ? `0${value}.0` : value.toUpperCase() },
        { ...node, operator: ':', value: word },
        {
          ...node,
          value: `${value.slice(0, 5).replaceAll('*', '')}*${value.slice(8).replaceAll('*', '')}`,
          wildcard: true,
        },
      ];
    }),
  ]);
}

/** As a scan searches for it. */
function occurs(needle: Needle, bytes: Buffer): boolean {
  if (bytes.length > kernel.text.length) return true;
  kernel.text.set(bytes);
  kernel.setNeedle(needle);
  return kernel.find(0, bytes.length) >= 0;
}

const names = readdirSync(FIXTURES).filter((name) => name.endsWith('.log'));

test.each(names)('each value in %s is found by the texts that are searched for', (name) => {
  const bytes = readFileSync(new URL(name, FIXTURES));
  const format = createFormat(BUILT_IN_FORMATS.detect(bytes, OPTIONS).spec, OPTIONS);
  const records = readRecords(bytes, format);
  const seen = new Set<string>();
  for (const [index, own] of records.entries()) {
    for (const condition of conditionsOf(own)) {
      if (seen.size === seen.add(JSON.stringify(condition)).size) continue;
      const others = records.slice(index + 1, index + 1 + runs(3));
      expectSame(condition, [own, ...others], format);
    }
  }
});

const text = fc.oneof(
  fc.constantFrom('13', '130', '013', '13.0', '1e1', '500ms', 'Ana "B" /c\\d', 'ÄRGER', '\u212Aelvin', 'a,b:{c}', ''),
  fc.string({ maxLength: 8 }),
);
const key = fc.constantFrom('shard', 'http', 'status', 'http.status', 'a/b', 'level', 'ü', 'k"', '');

const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.oneof(text, fc.constantFrom(13, 130, 0, -13, 1.5, 1e21, true, null)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
})).value;

/** JSON as others write it: with white space, escapes that are not needed, and numbers of other forms. */
function writeJson(given: unknown, choose: () => number): string {
  const space = () => ['', '', '', ' ', '  '][choose() % 5] ?? '';
  if (typeof given === 'string') {
    const letters = [...given].map((letter) => {
      const code = letter.charCodeAt(0);
      if (choose() % 9 === 0 && letter.length === 1) return `\\u${code.toString(16).padStart(4, '0')}`;
      return letter === '/' && choose() % 2 === 0 ? '\\/' : JSON.stringify(letter).slice(1, -1);
    });
    return `"${letters.join('')}"`;
  }
  if (typeof given === 'number' && Number.isInteger(given) && choose() % 4 === 0) return `${given}.0`;
  if (typeof given !== 'object' || given === null) return JSON.stringify(given);
  const isList = Array.isArray(given);
  const members = Object.entries(given).map(([name, member]) => {
    const written = space() + writeJson(member, choose) + space();
    return isList ? written : `${space()}${writeJson(name, choose)}${space()}:${written}`;
  });
  return isList ? `[${members.join(',')}]` : `{${members.join(',')}}`;
}

const message = fc.constantFrom('', 'slow shard=13 status="a \\"b\\""', 'shard": 13', 'x http.status=500,shard=[13]');

test('each value is found, however JSON writes it', () => {
  const record = fc.record({
    context: fc.dictionary(key, value),
    message,
    choices: fc.array(fc.nat(), { minLength: 7 }),
  });
  fc.assert(
    fc.property(
      fc.array(record, { minLength: 2, maxLength: 3 }),
      fc.constantFrom('contract', 'json'),
      (specs, name) => {
        const format = createFormat(name, OPTIONS);
        const records = specs.map(({ context, message: msg, choices }) => {
          let at = 0;
          const choose = () => choices[at++ % choices.length] ?? 0;
          const line =
            name === 'json'
              ? writeJson({ ts: '2026-11-15T10:00:00Z', level: 'info', msg, ...context }, choose)
              : `2026-11-15 10:00:00.000\tINFO\ta.go:1\t[A]: ${msg}\t${writeJson(context, choose)}`;
          const bytes = Buffer.from(`${line}\n`);
          return { bytes, fields: format.decode(bytes, 0, bytes.length), text: bytes.toString() };
        });
        for (const condition of records.flatMap(conditionsOf)) {
          expectSame(condition, records, format);
          expectSame({ kind: 'or', nodes: [condition, { kind: 'text', text: 'nowhere' }] }, records, format);
        }
      },
    ),
    { seed: 11, numRuns: runs(3) },
  );
});

/** Each of the records matches as in the reference, and those that do contain one text of each set. */
function expectSame(query: QueryNode, records: readonly Subject[], format: Format): void {
  const matcher = new RecordMatcher({ query });
  const needleSets = requiredNeedles(matcher, format.name);
  for (const { bytes, fields, text } of records) {
    const isMatch = slowMatches(query, { fields, text });
    const isFound =
      matcher.matchesHead({ timeMs: 0, rank: levelRank(fields.level) }) &&
      matcher.matchesText(bytes, 0, bytes.length, format);
    const missing = isMatch ? needleSets.filter((set) => !set.some((needle) => occurs(needle, bytes))) : [];
    // Not by `expect` for each: that takes longer than all the rest.
    if (isFound !== isMatch || missing.length > 0) {
      expect({ query, text, isFound, missing }).toEqual({ query, text, isFound: isMatch, missing: [] });
    }
  }
}
