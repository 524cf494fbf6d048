import type { RecordFields } from '../parse/record-fields.ts';
import { resolveField } from './field-name.ts';
import { caseFolder } from './fold-case.ts';
import { valueTest } from './match-value.ts';
import type { FieldNode, FieldRegexNode, QueryNode, TextNode } from './query-node.ts';
import { refValues } from './record-fields.ts';

/** A compiled regex. */
export interface RegexTest {
  test(text: string): boolean;
}

/** Compiles RE2 syntax, `^` and `$` matching at lines. Injected: what does it is not part of this module. */
export type CompileRegex = (pattern: string, options: { caseSensitive: boolean }) => RegexTest;

/** Whether a record matches; `text` returns its whole text, and is only called if it is needed. */
export type QueryTest = (record: RecordFields, text: () => string) => boolean;

/** Compiles a query for decoded records. */
export function compileQuery(node: QueryNode, compileRegex: CompileRegex): QueryTest {
  switch (node.kind) {
    case 'text':
      return textTest(node);
    case 'regex': {
      const regex = compileRegex(node.pattern, { caseSensitive: node.caseSensitive ?? false });
      return (_record, text) => regex.test(text());
    }
    case 'field':
      return fieldTest(node);
    case 'fieldRegex':
      return fieldRegexTest(node, compileRegex);
    case 'exists': {
      const ref = resolveField(node.field);
      return (record) => refValues(record, ref).length > 0;
    }
    case 'not': {
      const holds = compileQuery(node.node, compileRegex);
      return (record, text) => !holds(record, text);
    }
    case 'and': {
      const tests = node.nodes.map((each) => compileQuery(each, compileRegex));
      return (record, text) => tests.every((holds) => holds(record, text));
    }
    case 'or': {
      const tests = node.nodes.map((each) => compileQuery(each, compileRegex));
      return (record, text) => tests.some((holds) => holds(record, text));
    }
  }
}

/** Whether a decoded record has the field with such a value. */
export function fieldTest(node: FieldNode): (record: RecordFields) => boolean {
  const ref = resolveField(node.field);
  const holds = valueTest(node, ref);
  if (node.operator !== '!=') return (record) => refValues(record, ref).some(holds);
  return (record) => {
    const values = refValues(record, ref);
    return values.length > 0 && !values.some(holds);
  };
}

export function fieldRegexTest(
  { field, pattern, caseSensitive }: FieldRegexNode,
  compileRegex: CompileRegex,
): (record: RecordFields) => boolean {
  const ref = resolveField(field);
  const regex = compileRegex(pattern, { caseSensitive: caseSensitive ?? false });
  return (record) => refValues(record, ref).some((value) => regex.test(value));
}

function textTest({ text: wanted, caseSensitive }: TextNode): QueryTest {
  if (caseSensitive) return (_record, text) => text().includes(wanted);
  const fold = caseFolder(wanted);
  const folded = fold(wanted);
  return (_record, text) => fold(text()).includes(folded);
}
