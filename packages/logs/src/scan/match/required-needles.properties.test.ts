import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Needle } from '../../kernel/scan-kernel.ts';
import { createFormat, detectFormat } from '../../parse/detect-format.ts';
import type { Format, RecordFields } from '../../parse/format.ts';
import { levelRank } from '../../parse/level.ts';
import { createZone } from '../../parse/zone.ts';
import type { FieldNode, QueryNode } from '../../query/query-node.ts';
import { slowMatches, slowNames, slowValues } from '../../testing/slow-query.ts';
import { RecordMatcher } from './record-matcher.ts';
import { requiredNeedles } from './required-needles.ts';

const FIXTURES = new URL('../../parse/fixtures/', import.meta.url);
const OPTIONS = { zone: createZone('UTC'), writtenMs: Date.parse('2026-11-15T00:30:00Z') };

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

function occurs({ bytes: wanted, mask }: Needle, bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  const needle = Buffer.from(wanted).toString('latin1');
  return mask.some((bits) => bits !== 0) ? text.toLowerCase().includes(needle) : text.includes(needle);
}

const names = readdirSync(FIXTURES).filter((name) => name.endsWith('.log'));

/** `MORE=20` tests every condition on every record, not only on its own and some others. */
const MORE = Number(process.env.MORE ?? 1);

test.each(names)('each value in %s is found by the texts that are searched for', (name) => {
  const bytes = readFileSync(new URL(name, FIXTURES));
  const format = createFormat(detectFormat(bytes, OPTIONS).name, OPTIONS);
  const records = readRecords(bytes, format);
  const seen = new Set<string>();
  for (const [index, own] of records.entries()) {
    for (const condition of conditionsOf(own)) {
      if (seen.size === seen.add(JSON.stringify(condition)).size) continue;
      const others = records.slice(index + 1, index + 1 + 3 * MORE);
      expectSame(condition, [own, ...others], format);
    }
  }
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
