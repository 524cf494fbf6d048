import type { SearchEnd, SearchQuery } from '@porthole/logs/types';
import type { LogState, PrintableRecord } from '../sources/log-source.ts';
import type { OpenPage } from './find-pages.ts';
import { type JsonLinesOptions, type RecordTexts, splitJsonLines } from './record-texts.ts';

/** Pages of decoded records. */
export function recordPages(state: Pick<LogState, 'searchLogs'>): OpenPage<PrintableRecord[]> {
  return async function* open(query, options) {
    for await (const items of state.searchLogs(query, options)) {
      const records = items.filter((item) => item.type === 'record');
      const last = items.at(-1);
      const batch = records.length > 0 ? records : undefined;
      yield { batch, count: records.length, end: last?.type === 'end' ? last : undefined };
    }
  };
}

/** Pages of JSON lines, as the search engine formats them; only of local files. */
export function jsonPages(state: LogState, options: JsonLinesOptions): OpenPage<RecordTexts> | undefined {
  if (!state.searchLines) return undefined;
  return async function* open(query, limits) {
    for await (const chunk of state.searchLines?.(query, { ...limits, reusesMemory: true }) ?? []) {
      const { end, ...texts } = splitJsonLines(chunk, options);
      const count = texts.ends.length;
      yield { batch: count > 0 ? texts : undefined, count, end: end === undefined ? undefined : parseEnd(end) };
    }
  };
}

/** Pages of the text of records, as in their files; only of local files. For one source: it remembers how a page ended. */
export function textPages(state: LogState): OpenPage<RecordTexts> | undefined {
  if (!state.searchText) return undefined;
  let isLineOpen = false;
  return async function* open(query, limits) {
    let lacksNewline = isLineOpen;
    for await (const item of state.searchText?.(query, { ...limits, reusesMemory: true }) ?? []) {
      if (item.type === 'end') yield { batch: undefined, count: 0, end: item };
      if (item.type === 'end' || item.ends.length === 0) continue;
      yield { batch: lacksNewline ? afterNewline(item) : item, count: item.ends.length };
      lacksNewline = false;
      isLineOpen = endsWithoutNewline(item, query);
    }
  };
}

/** Longer records are split: then the next page continues the line. */
const MIN_PART_BYTES = 128 * 1024;

/** Whether what follows must start on a new line. Within a page the search engine takes care of that. */
function endsWithoutNewline({ text, ends }: RecordTexts, { order }: SearchQuery): boolean {
  const lastBytes = text.length - (ends[ends.length - 2] ?? 0);
  const isContinued = order === 'oldest' && lastBytes >= MIN_PART_BYTES;
  return text[text.length - 1] !== NEWLINE && !isContinued;
}

const NEWLINE = 10;

function afterNewline({ text, ends, times }: RecordTexts): RecordTexts {
  return { text: Buffer.concat([Buffer.of(NEWLINE), text]), ends: Array.from(ends, (end) => end + 1), times };
}

function parseEnd(line: string): SearchEnd {
  return JSON.parse(line) as SearchEnd;
}
