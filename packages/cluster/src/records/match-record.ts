import { contextJson } from '@porthole/contract';
import type { FoundRecord, Level, LogSelection, RecordFilter } from '@porthole/logs/types';

const RANKS: Readonly<Record<Level, number>> = { TRACE: 1, DEBUG: 2, INFO: 3, WARN: 4, ERROR: 5, FATAL: 6 };

/**
 * Whether a record that is only known as it was told meets the conditions: for last words, of which there is no file any
 * more. A regular expression never does: it is not tried on what is not the record's own text.
 */
export function matchesRecord(record: FoundRecord, query: LogSelection & RecordFilter): boolean {
  const { timeMs, level, source, tags = [] } = record;
  if (query.regex !== undefined) return false;
  if (query.file !== undefined && record.file !== query.file) return false;
  if (query.family !== undefined && !record.file.startsWith(stemOf(query.family))) return false;
  if (query.fromMs !== undefined && !(timeMs !== undefined && timeMs >= query.fromMs)) return false;
  if (query.toMs !== undefined && !(timeMs !== undefined && timeMs < query.toMs)) return false;
  if (query.minLevel !== undefined && !(level !== undefined && RANKS[level] >= RANKS[query.minLevel])) return false;
  if (query.source !== undefined && !isPlace(source, query.source)) return false;
  if (query.component !== undefined && !tags.some((tag) => lower(tag) === lower(query.component))) return false;
  return matchesText(record, query);
}

function matchesText(record: FoundRecord, { terms = [], excluded = [], caseSensitive = false }: RecordFilter): boolean {
  if (terms.length + excluded.length === 0) return true;
  const fold = caseSensitive ? String : lower;
  const text = fold(textOf(record));
  return terms.every((term) => text.includes(fold(term))) && !excluded.some((term) => text.includes(fold(term)));
}

function textOf(record: FoundRecord): string {
  const { level, source, tags = [], message } = record;
  const parts = [level, source, ...tags.map((tag) => `[${tag}]`), message, contextJson(record)];
  return parts.filter((part) => part !== undefined).join(' ');
}

function isPlace(source: string | undefined, wanted: string): boolean {
  if (source === undefined) return false;
  const [file = ''] = source.split(/:\d+$/);
  return [source, file].some((place) => place === wanted || place.endsWith(`/${wanted}`));
}

function stemOf(family: string): string {
  return family.replace(/\.log$/, '');
}

function lower(text: string | undefined): string {
  return (text ?? '').toLowerCase();
}
