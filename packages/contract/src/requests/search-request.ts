import type { SearchQuery, StartPoint } from '@porthole/logs/types';
import { PortholeError } from '../errors/errors.ts';
import { choice, optionalValue, type Query, trueOrFalse, wholeNumber } from '../params/query.ts';
import { type RequestClock, timeParameter } from '../time/time-text.ts';
import { parseRecordFilter, parseSelection } from './record-filter.ts';

export const DEFAULT_SEARCH_RECORDS = 200;
export const MAX_CONTEXT_RECORDS = 100;

export interface SearchLimits {
  /** The value of `search.max-records`. */
  maxRecords: number;
}

export function parseSearchRequest(query: Query, clock: RequestClock, { maxRecords }: SearchLimits): SearchQuery {
  const start = parseStart(query, clock);
  const until = optionalValue(query, 'until');
  const range = { min: 1, max: maxRecords, because: 'the most is set by search.max-records' };
  const context = { max: MAX_CONTEXT_RECORDS };
  return {
    ...parseSelection(query),
    ...parseRecordFilter(query, clock),
    order: choice(query, 'order', ['newest', 'oldest']) ?? 'newest',
    limit: wholeNumber(query, 'limit', range) ?? Math.min(DEFAULT_SEARCH_RECORDS, maxRecords),
    before: wholeNumber(query, 'before', context) ?? 0,
    after: wholeNumber(query, 'after', context) ?? 0,
    ...(start && { start }),
    ...(until !== undefined && { until }),
    ...(trueOrFalse(query, 'raw') && { raw: true }),
  };
}

function parseStart(query: Query, clock: RequestClock): StartPoint | undefined {
  const cursor = optionalValue(query, 'cursor');
  const record = optionalValue(query, 'record');
  const timeMs = timeParameter(query, 'time', clock);
  const offset = wholeNumber(query, 'offset');
  const starts: StartPoint[] = [
    ...(cursor === undefined ? [] : [{ cursor }]),
    ...(record === undefined ? [] : [{ record }]),
    ...(timeMs === undefined ? [] : [{ timeMs }]),
    ...(offset === undefined ? [] : [{ offset }]),
  ];
  if (starts.length > 1)
    throw new PortholeError('PARAMETER_INVALID', 'give one of "cursor", "record", "time" and "offset", not several');
  if (offset !== undefined && optionalValue(query, 'file') === undefined)
    throw new PortholeError('PARAMETER_INVALID', '"offset" is a place in one file: give its name as "file"');
  return starts[0];
}
