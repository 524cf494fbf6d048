import type { FollowQuery } from '@porthole/logs/types';
import { PortholeError } from '../errors/errors.ts';
import { optionalValue, type Query, trueOrFalse, wholeNumber } from '../params/query.ts';
import { type RequestClock, timeParameter } from '../time/time-text.ts';
import { parseRecordFilter, parseSelection } from './record-filter.ts';

export const MAX_BACK_RECORDS = 10_000;

/**
 * `lastEventId` is the cursor a client that reconnects saw last: it goes on there, whatever its first request asked for.
 * Only a time still counts: for logs that the cursor does not name.
 */
export function parseFollowRequest(query: Query, clock: RequestClock, lastEventId?: string): FollowQuery {
  return {
    ...parseSelection(query),
    ...parseRecordFilter(query, clock),
    start: parseStart(query, clock, lastEventId),
    ...(trueOrFalse(query, 'raw') && { raw: true }),
  };
}

function parseStart(query: Query, clock: RequestClock, lastEventId: string | undefined): FollowQuery['start'] {
  const cursor = optionalValue(query, 'cursor');
  const timeMs = timeParameter(query, 'time', clock);
  const back = wholeNumber(query, 'back', { max: MAX_BACK_RECORDS });
  if (back !== undefined && (cursor !== undefined || timeMs !== undefined))
    throw new PortholeError(
      'PARAMETER_INVALID',
      'give one of "back", "time" and "cursor", not several; only "time" may stand beside "cursor"',
    );
  const after = lastEventId || cursor;
  if (after) return { cursor: after, ...(timeMs !== undefined && { sinceMs: timeMs }) };
  if (timeMs !== undefined) return { timeMs };
  return back === undefined ? 'end' : { back };
}
