import {
  type ExistsNode,
  type FieldNode,
  type FieldOperator,
  parseLevelName,
  parseQuantity,
} from '@porthole/logs/query';
import { quoteInput } from '../params/query.ts';

/** A comparison as written. */
export interface WrittenComparison {
  field: string;
  operator: FieldOperator;
  value: string;
  isQuoted: boolean;
}

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
  if (parseQuantity(value)) return { kind: 'field', field, operator, value };
  return {
    detail: `invalid value ${quoteInput(value)} for ${operator}: expected a number, a duration like 500ms or a size like 10MiB`,
  };
}

const WILDCARD = { wildcard: true } as const;

/** Other common names are accepted, as everywhere, and `:` means the same as `=`; the query has one way of writing. */
function checkLevel({ field, operator, value }: WrittenComparison): FieldNode | { detail: string } {
  const known = parseLevelName(value);
  if (known === undefined)
    return { detail: `invalid level ${quoteInput(value)}: expected trace, debug, info, warn, error or fatal` };
  return { kind: 'field', field, operator: operator === ':' ? '=' : operator, value: known.toLowerCase() };
}
