import type { DigestQuery } from '@porthole/logs/types';
import { PortholeError } from '../errors/errors.ts';
import { type Query, trueOrFalse, wholeNumber } from '../params/query.ts';
import { type RequestClock, timeParameter } from '../time/time-text.ts';
import { parseRecordFilter, parseSelection } from './record-filter.ts';

export const DEFAULT_GROUPS = 50;
export const MAX_GROUPS = 1000;

export function parseDigestRequest(query: Query, clock: RequestClock): DigestQuery {
  const newSinceMs = timeParameter(query, 'newSince', clock);
  const onlyNew = trueOrFalse(query, 'onlyNew') ?? false;
  if (onlyNew && newSinceMs === undefined)
    throw new PortholeError('PARAMETER_INVALID', '"onlyNew" needs "newSince": new since when?');
  return {
    ...parseSelection(query),
    ...parseRecordFilter(query, clock),
    limit: wholeNumber(query, 'limit', { min: 1, max: MAX_GROUPS }) ?? DEFAULT_GROUPS,
    ...(newSinceMs !== undefined && { newSinceMs }),
    ...(onlyNew && { onlyNew }),
  };
}
