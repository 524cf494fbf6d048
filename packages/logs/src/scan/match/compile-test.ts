import { resolveField } from '../../query/field-name.ts';
import { fieldRegexTest, fieldTest, type RegexTest } from '../../query/match-query.ts';
import type { QueryNode, RegexNode, TextNode } from '../../query/query-node.ts';
import { refValues } from '../../query/record-fields.ts';
import { quickTest } from './quick-test.ts';
import type { RecordView } from './record-view.ts';

/** A condition on a record. */
export interface RecordTest {
  holds(record: RecordView): boolean;
  /** Roughly, in comparison with others: cheap conditions are tested first. */
  cost: number;
}

export type RegexFor = (node: { pattern: string; caseSensitive?: true }) => RegexTest;

/** Searching bytes, reading values in them, parsing the record, and running a regex on it. */
const TEXT_COST = 1;
const QUICK_COST = 2;
const FIELD_COST = 10;
const REGEX_COST = 100;

/** Compiles a query for records as bytes. Of terms that must all hold, or one of them, the cheap ones come first. */
export function compileTest(node: QueryNode, regexFor: RegexFor): RecordTest {
  switch (node.kind) {
    case 'text':
      return { holds: textTest(node), cost: TEXT_COST };
    case 'regex':
      return { holds: regexTest(node, regexFor), cost: REGEX_COST };
    case 'field': {
      const holds = fieldTest(node);
      return { holds: ({ fields }) => holds(fields), cost: FIELD_COST };
    }
    case 'fieldRegex': {
      const holds = fieldRegexTest(node, () => regexFor(node));
      return { holds: ({ fields }) => holds(fields), cost: REGEX_COST };
    }
    case 'exists': {
      const ref = resolveField(node.field);
      return { holds: ({ fields }) => refValues(fields, ref).length > 0, cost: FIELD_COST };
    }
    case 'not': {
      const { holds, cost } = compileTest(node.node, regexFor);
      return { holds: (record) => !holds(record), cost };
    }
    case 'and':
    case 'or': {
      const tests = compileTests(node.nodes, regexFor);
      const all = node.kind === 'and';
      const holds = (record: RecordView) =>
        all ? tests.every((test) => test.holds(record)) : tests.some((test) => test.holds(record));
      return { holds, cost: tests.reduce((sum, test) => sum + test.cost, 0) };
    }
  }
}

/** Cheap ones first. */
function compileTests(nodes: readonly QueryNode[], regexFor: RegexFor): RecordTest[] {
  return nodes.map((node) => compileTest(node, regexFor)).sort((a, b) => a.cost - b.cost);
}

/** Tests that must all hold, cheap ones first. Before a record is parsed, its bytes decide as far as possible. */
export function compileConjuncts(nodes: readonly QueryNode[], regexFor: RegexFor): RecordTest[] {
  const quick = nodes.flatMap((node) => {
    const holds = quickTest(node, regexFor);
    return holds ? [{ holds, cost: QUICK_COST }] : [];
  });
  return [...quick, ...compileTests(nodes, regexFor)].sort((a, b) => a.cost - b.cost);
}

function regexTest(node: RegexNode, regexFor: RegexFor): RecordTest['holds'] {
  const regex = regexFor(node);
  return (record) => regex.test(record.text);
}

/**
 * Both cases of ASCII letters are the same byte pattern in any encoding, so Latin-1 is sufficient for searching them,
 * whatever the bytes are. Other letters require decoding the text.
 */
function textTest({ text, caseSensitive }: TextNode): RecordTest['holds'] {
  if (caseSensitive) {
    const wanted = Buffer.from(text);
    return ({ bytes }) => bytes.includes(wanted);
  }
  const lower = text.toLowerCase();
  const encoding = isAscii(text) ? 'latin1' : 'utf8';
  return ({ bytes }) => bytes.toString(encoding).toLowerCase().includes(lower);
}

export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}
