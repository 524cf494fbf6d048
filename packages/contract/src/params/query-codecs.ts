import type { QueryNode } from '@porthole/logs/types';
import { PortholeError } from '../errors/errors.ts';
import { formatQuery } from '../query/format-query.ts';
import { parseQuery } from '../query/parse-query.ts';
import type { Codec } from './codecs.ts';
import { onlyText } from './query.ts';

/** Enough for a table. */
const MAX_FIELDS = 64;

/** Names of fields: repeated, or separated by commas. */
export const fieldNames: Codec<readonly string[]> = {
  schema: { type: 'string', repeated: true },
  parse(values, label) {
    const names = [...new Set(values.flatMap((value) => value.split(',')).filter((name) => name !== ''))];
    if (names.length > MAX_FIELDS)
      throw new PortholeError(
        'PARAMETER_INVALID',
        `${label} has ${names.length} names; at most ${MAX_FIELDS} are allowed`,
      );
    return names.length > 0 ? names : undefined;
  },
  encode: (names) => (names.length > 0 ? [names.join(',')] : []),
};

/** Requests of clients may also have the text of a query. */
export const query: Codec<QueryNode> & { encode(value: QueryNode | string): string[] } = {
  schema: { type: 'string' },
  parse(values, label) {
    const only = onlyText(values, label);
    return only === undefined ? undefined : parseQuery(only);
  },
  encode(value) {
    const written = typeof value === 'string' ? value : formatQuery(value);
    return written === '' ? [] : [written];
  },
};
