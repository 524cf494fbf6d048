import type {
  DigestQuery,
  FollowQuery,
  HistogramQuery,
  LogSelection,
  RecordFilter,
  SearchQuery,
  StartPoint,
} from '@porthole/logs/types';
import { PortholeError } from '../errors/errors.ts';
import type { SearchOptions } from '../node-state.ts';
import type { FileRequest } from '../requests/file-request.ts';
import type { ViewRequest } from '../requests/view-request.ts';
import { timeText } from '../time/time-text.ts';

/* Strict requests as parameters of a URL: what `parse...Request` reads back as the same request. */

type Budget = Pick<SearchOptions, 'budgetMs'>;

/** Names and values in the order they are written; what is `undefined` is left out. */
type QueryParameters = readonly (readonly [name: string, value: string | number | undefined])[];

export function encodeFile({ file, text }: FileRequest): URLSearchParams {
  return toSearchParams([
    ['file', checkFileName(file)],
    ['text', encodeFlag(text)],
  ]);
}

export function encodeView({ file, sizeBytes }: ViewRequest): URLSearchParams {
  return toSearchParams([
    ['file', checkFileName(file)],
    ['size', sizeBytes],
  ]);
}

export function encodeSearch(query: SearchQuery, budget: Budget = {}): URLSearchParams {
  return toSearchParams([
    ...filterParameters(query),
    ['order', query.order],
    ['limit', query.limit],
    ['before', query.before],
    ['after', query.after],
    ...(query.start ? [searchStart(query.start)] : []),
    ['until', checkCursor(query.until)],
    ['raw', encodeFlag(query.raw)],
    ...budgetParameters(budget),
  ]);
}

/** The conditions alone. */
export function encodeFilter(filter: RecordFilter): URLSearchParams {
  return toSearchParams(filterParameters(filter));
}

export function encodeFollow(query: FollowQuery): URLSearchParams {
  return toSearchParams([...filterParameters(query), ...followStart(query.start), ['raw', encodeFlag(query.raw)]]);
}

export function encodeHistogram(query: HistogramQuery, budget: Budget = {}): URLSearchParams {
  return toSearchParams([
    ...filterParameters(query),
    ['bucket', query.bucketMs],
    ['buckets', query.buckets],
    ...budgetParameters(budget),
  ]);
}

export function encodeDigest(query: DigestQuery, budget: Budget = {}): URLSearchParams {
  return toSearchParams([
    ...filterParameters(query),
    ['limit', query.limit],
    ['newSince', encodeTime(query.newSinceMs)],
    ['onlyNew', encodeFlag(query.onlyNew)],
    ...budgetParameters(budget),
  ]);
}

function toSearchParams(parameters: QueryParameters): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of parameters) if (value !== undefined) query.append(name, String(value));
  return query;
}

function filterParameters(query: LogSelection & RecordFilter): QueryParameters {
  return [
    ['file', checkFileName(query.file)],
    ['family', checkFamilyName(query.family)],
    ['from', encodeTime(query.fromMs)],
    ['to', encodeTime(query.toMs)],
    ['level', query.minLevel?.toLowerCase()],
    ...(query.terms ?? []).map((term) => ['q', term] as const),
    ...(query.excluded ?? []).map((term) => ['not', term] as const),
    ['case', query.caseSensitive ? 'sensitive' : undefined],
    ['regex', query.regex],
    ['source', query.source],
    ['component', query.component],
  ];
}

function searchStart(start: StartPoint): QueryParameters[number] {
  if ('cursor' in start) return ['cursor', checkCursor(start.cursor)];
  if ('record' in start) return ['record', checkCursor(start.record)];
  return 'timeMs' in start ? ['time', encodeTime(start.timeMs)] : ['offset', start.offset];
}

function followStart(start: FollowQuery['start']): QueryParameters {
  if (start === 'end') return [];
  if ('back' in start) return [['back', start.back]];
  if ('timeMs' in start) return [['time', encodeTime(start.timeMs)]];
  return [
    ['cursor', checkCursor(start.cursor)],
    ['time', encodeTime(start.sinceMs)],
  ];
}

function encodeTime(timeMs: number | undefined): string | undefined {
  return timeMs === undefined ? undefined : timeText(timeMs);
}

/** In a URL an empty name is as good as none, and none means all: refused here, with what the log directory would say. */
function checkFileName(file: string | undefined): string | undefined {
  if (file === '') throw new PortholeError('FILE_NAME_MISSING', 'the file name is empty');
  return file;
}

function checkFamilyName(family: string | undefined): string | undefined {
  if (family === '') throw new PortholeError('LOG_FAMILY_NOT_FOUND', 'no log family named ""');
  return family;
}

function checkCursor(cursor: string | undefined): string | undefined {
  if (cursor === '')
    throw new PortholeError('CURSOR_INVALID', 'invalid cursor: pass a cursor exactly as a response returned it');
  return cursor;
}

/** One without end is the node's to limit. A node takes whole milliseconds, and no less than one. */
function budgetParameters({ budgetMs = Infinity }: Budget): QueryParameters {
  return Number.isFinite(budgetMs) ? [['budget', Math.max(1, Math.ceil(budgetMs))]] : [];
}

function encodeFlag(value: boolean | undefined): string | undefined {
  return value ? 'true' : undefined;
}
