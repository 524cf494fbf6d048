import type {
  DigestQuery,
  FollowQuery,
  HistogramQuery,
  LogSelection,
  RecordFilter,
  SearchQuery,
  StartPoint,
} from '@porthole/logs/types';
import { PortholeError } from './errors.ts';
import type { FileRequest } from './file-request.ts';
import type { SearchOptions } from './node-state.ts';
import { timeText } from './time-text.ts';
import type { ViewRequest } from './view-request.ts';

/* Strict requests as parameters of a URL: what `parse...Request` reads back as the same request. */

type Budget = Pick<SearchOptions, 'budgetMs'>;

/** Names and values in the order they are written; what is `undefined` is left out. */
type Parameters = readonly (readonly [name: string, value: string | number | undefined])[];

export function encodeFile({ file, text }: FileRequest): URLSearchParams {
  return written([
    ['file', fileName(file)],
    ['text', whenTrue(text)],
  ]);
}

export function encodeView({ file, sizeBytes }: ViewRequest): URLSearchParams {
  return written([
    ['file', fileName(file)],
    ['size', sizeBytes],
  ]);
}

export function encodeSearch(query: SearchQuery, budget: Budget = {}): URLSearchParams {
  return written([
    ...conditions(query),
    ['order', query.order],
    ['limit', query.limit],
    ['before', query.before],
    ['after', query.after],
    ...(query.start ? [searchStart(query.start)] : []),
    ['until', cursorText(query.until)],
    ['raw', whenTrue(query.raw)],
    ...budgetOf(budget),
  ]);
}

/** The conditions alone. */
export function encodeFilter(filter: RecordFilter): URLSearchParams {
  return written(conditions(filter));
}

export function encodeFollow(query: FollowQuery): URLSearchParams {
  return written([...conditions(query), ...followStart(query.start), ['raw', whenTrue(query.raw)]]);
}

export function encodeHistogram(query: HistogramQuery, budget: Budget = {}): URLSearchParams {
  return written([...conditions(query), ['bucket', query.bucketMs], ['buckets', query.buckets], ...budgetOf(budget)]);
}

export function encodeDigest(query: DigestQuery, budget: Budget = {}): URLSearchParams {
  return written([
    ...conditions(query),
    ['limit', query.limit],
    ['newSince', timeOf(query.newSinceMs)],
    ['onlyNew', whenTrue(query.onlyNew)],
    ...budgetOf(budget),
  ]);
}

function written(parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of parameters) if (value !== undefined) query.append(name, String(value));
  return query;
}

function conditions(query: LogSelection & RecordFilter): Parameters {
  return [
    ['file', fileName(query.file)],
    ['family', familyName(query.family)],
    ['from', timeOf(query.fromMs)],
    ['to', timeOf(query.toMs)],
    ['level', query.minLevel?.toLowerCase()],
    ...(query.terms ?? []).map((term) => ['q', term] as const),
    ...(query.excluded ?? []).map((term) => ['not', term] as const),
    ['case', query.caseSensitive ? 'sensitive' : undefined],
    ['regex', query.regex],
    ['source', query.source],
    ['component', query.component],
  ];
}

function searchStart(start: StartPoint): Parameters[number] {
  if ('cursor' in start) return ['cursor', cursorText(start.cursor)];
  if ('record' in start) return ['record', cursorText(start.record)];
  return 'timeMs' in start ? ['time', timeOf(start.timeMs)] : ['offset', start.offset];
}

function followStart(start: FollowQuery['start']): Parameters {
  if (start === 'end') return [];
  if ('back' in start) return [['back', start.back]];
  if ('timeMs' in start) return [['time', timeOf(start.timeMs)]];
  return [
    ['cursor', cursorText(start.cursor)],
    ['time', timeOf(start.sinceMs)],
  ];
}

function timeOf(timeMs: number | undefined): string | undefined {
  return timeMs === undefined ? undefined : timeText(timeMs);
}

/** In a URL an empty name is as good as none, and none means all: refused here, with what the log directory would say. */
function fileName(file: string | undefined): string | undefined {
  if (file === '') throw new PortholeError('FILE_NAME_MISSING', 'the name of a log file is empty');
  return file;
}

function familyName(family: string | undefined): string | undefined {
  if (family === '') throw new PortholeError('LOG_FAMILY_NOT_FOUND', 'no family of logs named ""');
  return family;
}

function cursorText(cursor: string | undefined): string | undefined {
  if (cursor === '')
    throw new PortholeError(
      'CURSOR_INVALID',
      'this is not a cursor of this interface: use one exactly as an answer gave it',
    );
  return cursor;
}

/** One without end is the node's to limit. A node takes whole milliseconds, and no less than one. */
function budgetOf({ budgetMs = Infinity }: Budget): Parameters {
  return Number.isFinite(budgetMs) ? [['budget', Math.max(1, Math.ceil(budgetMs))]] : [];
}

function whenTrue(value: boolean | undefined): string | undefined {
  return value ? 'true' : undefined;
}
