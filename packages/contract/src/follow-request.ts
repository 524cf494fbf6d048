import type { FollowQuery } from '@porthole/logs/types';
import { PortholeError } from './errors.ts';
import { given, type Query, trueOrFalse, wholeNumber } from './query.ts';
import { parseRecordFilter, parseSelection } from './record-filter.ts';
import { type RequestClock, timeParameter } from './time-text.ts';

export const MAX_BACK_RECORDS = 10_000;

/** `lastEventId` is the cursor a client that reconnects saw last: it goes on there, whatever its first request asked for. */
export function parseFollowRequest(query: Query, clock: RequestClock, lastEventId?: string): FollowQuery {
  const start = parseStart(query, clock);
  return {
    ...parseSelection(query),
    ...parseRecordFilter(query, clock),
    start: lastEventId ? { cursor: lastEventId } : start,
    ...(trueOrFalse(query, 'raw') && { raw: true }),
  };
}

function parseStart(query: Query, clock: RequestClock): FollowQuery['start'] {
  const cursor = given(query, 'cursor');
  const timeMs = timeParameter(query, 'time', clock);
  const back = wholeNumber(query, 'back', { max: MAX_BACK_RECORDS });
  const starts: FollowQuery['start'][] = [
    ...(cursor === undefined ? [] : [{ cursor }]),
    ...(timeMs === undefined ? [] : [{ timeMs }]),
    ...(back === undefined ? [] : [{ back }]),
  ];
  if (starts.length > 1)
    throw new PortholeError('PARAMETER_INVALID', 'give one of "back", "time" and "cursor", not several');
  return starts[0] ?? 'end';
}
