/* Random queries by field. */
import fc from 'fast-check';
import type { FieldNode, QueryNode, RecordFields } from '../types.ts';
import { slowNames, slowValues } from './slow-query.ts';

/** Conditions whose fields and values are chosen later, among those of the records. */
export type QuerySpec =
  | Exclude<QueryNode, { kind: 'and' | 'or' | 'not' }>
  | { kind: 'pick'; record: number; field: number; operator: FieldNode['operator']; change: Change }
  | { kind: 'not'; node: QuerySpec }
  | { kind: 'and' | 'or'; nodes: QuerySpec[] };

type Change = 'none' | 'upper' | 'zero' | 'part' | 'wild' | 'word' | 'regex' | 'exists' | 'context';

const OPERATORS = ['=', '=', '=', ':', ':', '!=', '<', '<=', '>', '>='] as const;

const LITERALS = ['0', '42', '500', '1.5s', '600ms', '10KiB', '1e1', 'warn', 'info', '404', 'x'] as const;
const FIELDS = ['q', 'http.status', 'took', 'ids', 'level', 'message', 'wait_ms', 'context.level', 'nothing'] as const;

/** Queries with these texts and patterns. */
export function queryOf({ text, pattern }: Record<'text' | 'pattern', fc.Arbitrary<string>>): fc.Arbitrary<QuerySpec> {
  const pick = fc.record({
    kind: fc.constant('pick' as const),
    record: fc.nat(),
    field: fc.nat(),
    operator: fc.constantFrom(...OPERATORS),
    change: fc.constantFrom<Change>(
      'none',
      'none',
      'upper',
      'zero',
      'part',
      'wild',
      'word',
      'regex',
      'exists',
      'context',
    ),
  });
  const literal = fc.record({
    kind: fc.constant('field' as const),
    field: fc.constantFrom(...FIELDS),
    operator: fc.constantFrom(...OPERATORS),
    value: fc.constantFrom(...LITERALS),
  });
  const leaf = fc.oneof(
    { weight: 5, arbitrary: pick },
    { weight: 2, arbitrary: literal },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('text' as const), text }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('regex' as const), pattern }) },
  );
  const { node } = fc.letrec<{ node: QuerySpec }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      { weight: 3, arbitrary: leaf },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('not' as const), node: tie('node') }) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constantFrom('and' as const, 'or' as const),
          nodes: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
        }),
      },
    ),
  }));
  return node;
}

export function toQuery(spec: QuerySpec, records: readonly { whole: RecordFields }[]): QueryNode {
  switch (spec.kind) {
    case 'not':
      return { kind: 'not', node: toQuery(spec.node, records) };
    case 'and':
    case 'or':
      return { kind: spec.kind, nodes: spec.nodes.map((node) => toQuery(node, records)) };
    case 'pick':
      return toCondition(spec, records[spec.record % Math.max(1, records.length)]?.whole ?? { message: '' });
    default:
      return spec;
  }
}

function toCondition({ field: at, operator, change }: QuerySpec & { kind: 'pick' }, record: RecordFields): QueryNode {
  const names = slowNames(record);
  const field = names[at % names.length] ?? 'message';
  const values = slowValues(record, field);
  // Long texts would only repeat themselves.
  const value = (values[at % Math.max(1, values.length)] ?? '').slice(0, 300);
  const isOrder = operator !== '=' && operator !== '!=' && operator !== ':';
  const node: FieldNode = { kind: 'field', field, operator, value };
  switch (change) {
    case 'upper':
      return { ...node, value: value.toUpperCase() };
    case 'zero':
      return { ...node, value: /^\d+$/.test(value) ? `0${value}.0` : value };
    case 'part':
      return { ...node, value: value.slice(at % 3, 8) };
    case 'wild': {
      const middle = at % Math.max(1, value.length);
      return { ...node, operator: isOrder ? '=' : operator, value: `${value.slice(0, middle)}*`, wildcard: true };
    }
    case 'word':
      return { ...node, operator: ':', value: /[\p{L}\p{N}]+/u.exec(value)?.[0] ?? value };
    case 'regex':
      return { kind: 'fieldRegex', field, pattern: /[a-z0-9]+/i.exec(value)?.[0] ?? '^$' };
    case 'exists':
      return { kind: 'exists', field };
    case 'context':
      return { ...node, field: field.startsWith('context.') ? field : `context.${field}` };
    default:
      return node;
  }
}
