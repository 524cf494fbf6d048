import type { HistogramQuery } from '@porthole/logs/types';
import { optionalValue, parameterInvalid, type Query, wholeNumber } from '../params/query.ts';
import { parseSpan } from '../time/duration-text.ts';
import type { RequestClock } from '../time/time-text.ts';
import { parseRecordFilter, parseSelection } from './record-filter.ts';

export const DEFAULT_BUCKETS = 60;
export const MAX_BUCKETS = 1000;

export function parseHistogramRequest(query: Query, clock: RequestClock): HistogramQuery {
  const bucketMs = parseBucket(optionalValue(query, 'bucket'));
  return {
    ...parseSelection(query),
    ...parseRecordFilter(query, clock),
    ...(bucketMs !== undefined && { bucketMs }),
    buckets: wholeNumber(query, 'buckets', { min: 1, max: MAX_BUCKETS }) ?? DEFAULT_BUCKETS,
  };
}

function parseBucket(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const bucketMs = parseSpan(text);
  if (!bucketMs) throw parameterInvalid('bucket', text, 'a duration like 1m (units ms, s, m, h, d, w) or milliseconds');
  return bucketMs;
}
