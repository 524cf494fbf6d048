import type { ExistsNode, FieldNode, FieldOperator } from '@porthole/logs/query';
import { quoteInput } from '../params/query.ts';
import { LEVEL_NAMES } from '../records/levels.ts';

/** A comparison as written. */
export interface WrittenComparison {
  field: string;
  operator: FieldOperator;
  value: string;
  isQuoted: boolean;
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;
const DURATION = /^-?(?:\d+(?:\.\d+)?(?:ns|us|µs|μs|ms|s|m|h|d))+$/;
const SIZE = /^-?\d+(?:\.\d+)?(?:[kmgt]i?)?b$/i;

/** The condition, or what is wrong with its value. */
export function checkValue(written: WrittenComparison): FieldNode | ExistsNode | { detail: string } {
  const { field, operator, value, isQuoted } = written;
  const isText = operator === '=' || operator === '!=' || operator === ':';
  if (isText && value === '*' && !isQuoted)
    return operator === '!='
      ? { detail: `"${operator}*" never matches; for records without the field, write -${field}:*` }
      : { kind: 'exists', field };
  if (field === 'level') return checkLevel(written);
  if (!isQuoted && /^[=<>]/.test(value))
    return {
      detail: `unknown operator: expected =, !=, :, <, <=, > or >=; if this is the value, put it in double quotes`,
    };
  if (operator === ':' && value === '')
    return { detail: `the value is empty; for records that have the field, write ${field}:*` };
  if (isText) return { kind: 'field', field, operator, value, ...(!isQuoted && value.includes('*') && WILDCARD) };
  if (NUMBER.test(value) || DURATION.test(value) || SIZE.test(value)) return { kind: 'field', field, operator, value };
  return {
    detail: `invalid value ${quoteInput(value)} for ${operator}: expected a number, a duration like 500ms or a size like 10MiB`,
  };
}

const WILDCARD = { wildcard: true } as const;

/** Other common names are accepted, as everywhere; the query has ours. */
function checkLevel({ field, operator, value }: WrittenComparison): FieldNode | { detail: string } {
  const name = value.toLowerCase();
  const known = Object.hasOwn(LEVEL_NAMES, name) ? LEVEL_NAMES[name] : undefined;
  if (known === undefined)
    return { detail: `invalid level ${quoteInput(value)}: expected trace, debug, info, warn, error or fatal` };
  return { kind: 'field', field, operator, value: known.toLowerCase() };
}
