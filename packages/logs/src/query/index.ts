/* The part of the engine that browsers load too: pure functions on queries and decoded records, nothing of Node.js. */
export { ALL_FIELDS, fieldJson } from './field-json.ts';
export {
  BUILT_IN_FIELDS,
  type BuiltInField,
  canonicalField,
  type FieldRef,
  leafName,
  resolveField,
} from './field-name.ts';
export { filterToQuery } from './filter-to-query.ts';
export type { LeafKind } from './json-leaves.ts';
export { LEVEL_NAMES, LEVELS, parseLevelName } from './levels.ts';
export { type CompileRegex, compileQuery, type QueryTest, type RegexTest } from './match-query.ts';
export { isOrdered } from './match-value.ts';
export { NOTICES } from './notices.ts';
export { parseQuantity, QUANTITY_UNITS, type Quantity } from './quantity.ts';
export type {
  ExistsNode,
  FieldJson,
  FieldNode,
  FieldOperator,
  FieldRegexNode,
  QueryNode,
  RegexNode,
  TextNode,
} from './query-node.ts';
export { fieldValues, type RecordField, recordFields, refValues } from './record-fields.ts';
export { valueType } from './value-type.ts';
