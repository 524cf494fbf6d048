import { resolveField } from '../../query/field-name.ts';
import type { QueryNode } from '../../query/query-node.ts';
import type { RegexFor } from './compile-test.ts';
import { ESCAPES, lastName } from './field-texts.ts';
import type { RecordView } from './record-view.ts';
import { type FieldCondition, valueBehind } from './value-behind.ts';

/** Never rejects a record that matches; if it cannot decide without parsing the record, it accepts. */
type MayHold = (record: RecordView) => boolean;

/** `undefined` if nothing can be decided without parsing the record. */
export function quickTest(node: QueryNode, regexFor: RegexFor): MayHold | undefined {
  switch (node.kind) {
    case 'field':
    case 'fieldRegex':
    case 'exists':
      return fieldQuickTest(node, regexFor);
    case 'and': {
      const tests = node.nodes.flatMap((each) => quickTest(each, regexFor) ?? []);
      return tests.length > 0 ? (record) => tests.every((mayHold) => mayHold(record)) : undefined;
    }
    case 'or': {
      const tests = node.nodes.map((each) => quickTest(each, regexFor));
      if (!tests.every((test) => test !== undefined)) return undefined;
      return (record) => tests.some((mayHold) => mayHold(record));
    }
    default:
      return undefined;
  }
}

function fieldQuickTest(node: FieldCondition, regexFor: RegexFor): MayHold | undefined {
  const ref = resolveField(node.field);
  const name = 'leaf' in ref ? lastName(ref.leaf) : undefined;
  if (name === undefined) return undefined;
  const wanted = Buffer.from(name);
  const escapes = new Map(
    Object.entries(ESCAPES).map(([format, texts]) => [format, texts.map((text) => Buffer.from(text))]),
  );
  const follows = valueBehind(node, regexFor);
  return ({ bytes, formatName = '' }) => {
    const others = escapes.get(formatName);
    if (!others) return true;
    for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) {
      if (follows(bytes, at + wanted.length, bytes.length)) return true;
    }
    return others.some((text) => bytes.includes(text));
  };
}
