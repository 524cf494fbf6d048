/* The part of the engine that browsers load too: pure functions on queries and decoded records, nothing of Node.js. */

export type {
  ExistsNode,
  FieldJson,
  FieldNode,
  FieldOperator,
  FieldRegexNode,
  QueryNode,
  RegexNode,
  TextNode,
} from '../types.ts';
export { escapeRegex } from './escape-regex.ts';
export { filterToQuery } from './filter-to-query.ts';
export {
  familySource,
  fileSource,
  formatLogSource,
  type LogSource,
  LogSources,
  parseLogSource,
} from './log-sources.ts';
export { isPattern, matchesPattern } from './match-pattern.ts';
export {
  type CompileRegex,
  compileQuery,
  isOrdered,
  LEVEL_NAMES,
  LEVELS,
  NOTICES,
  parseLevelName,
  type QueryTest,
  type RegexTest,
} from './match-query.ts';
export { messageShape } from './message-shape.ts';
export { parseQuantity, QUANTITY_UNITS, type Quantity, valueType } from './quantity.ts';
export {
  ALL_FIELDS,
  BUILT_IN_FIELDS,
  type BuiltInField,
  canonicalField,
  type FieldRef,
  fieldJson,
  fieldValues,
  type LeafKind,
  leafName,
  type RecordField,
  recordFields,
  refValues,
  resolveField,
} from './record-fields.ts';
