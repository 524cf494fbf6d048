/* The part of the engine that browsers load too: pure functions on queries and decoded records, nothing of Node.js. */
export type {
  ExistsNode,
  FieldNode,
  FieldOperator,
  FieldRegexNode,
  QueryNode,
  RegexNode,
  TextNode,
} from './query-node.ts';
