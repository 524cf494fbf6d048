import type { SearchEnd, SearchQuery } from '@porthole/logs/types';
import { bytesOf, isBatch, joinBytes, originAt, type RecordBatch } from '@porthole/records';
import type { LogState, PrintableRecord, PrintedSearch } from '../sources/log-source.ts';
import type { OpenPage } from './find-pages.ts';

/** Decoded records, and their times, by which they are merged. */
export interface RecordList {
  records: readonly PrintableRecord[];
  times: readonly number[];
}

/** Pages of decoded records. */
export function recordPages(state: Pick<LogState, 'searchLogs'>): OpenPage<RecordList> {
  return async function* open(query, options) {
    for await (const items of state.searchLogs(query, options)) {
      const records: PrintableRecord[] = items.filter((item) => item.type === 'record');
      const times = records.map(({ timeMs = Number.NaN, atMs = timeMs }) => atMs);
      const last = items.at(-1);
      const batch = records.length > 0 ? { records, times } : undefined;
      yield { batch, count: records.length, end: last?.type === 'end' ? last : undefined };
    }
  };
}

/** Pages of JSON lines, as the search engine formats them; only of local files. `place`: see `LogSource`. */
export function jsonPages(state: LogState, place: string | undefined): OpenPage<RecordBatch> | undefined {
  if (!state.searchPrinted) return undefined;
  return async function* open(query, options) {
    for await (const item of printed(state, query, options))
      yield isBatch(item) ? found(place ? withTargets(item, place) : item) : { batch: undefined, count: 0, end: item };
  };
}

/** Pages of the text of records, as in their files; only of local files. For one source: it remembers how a page ended. */
export function textPages(state: LogState): OpenPage<RecordBatch> | undefined {
  if (!state.searchPrinted) return undefined;
  let isLineOpen = false;
  return async function* open(query, options) {
    let lacksNewline = isLineOpen;
    for await (const item of printed(state, query, { ...options, asText: true })) {
      if (!isBatch(item)) yield { batch: undefined, count: 0, end: item };
      else if (item.ends.length > 0) {
        yield found(lacksNewline ? afterNewline(item) : item);
        lacksNewline = false;
        isLineOpen = endsWithoutNewline(item, query);
      }
    }
  };
}

function printed(state: LogState, query: SearchQuery, options: PrintedSearch): AsyncIterable<RecordBatch | SearchEnd> {
  return state.searchPrinted?.(query, { ...options, reusesMemory: true }) ?? (async function* () {})();
}

function found(batch: RecordBatch) {
  const count = batch.ends.length;
  return { batch: count > 0 ? batch : undefined, count };
}

/** Adds the name of the file with its place to every line, as the last member. */
function withTargets(batch: RecordBatch, place: string): RecordBatch {
  let end = 0;
  const parts = Array.from(batch.ends, (_, index) => {
    const target = `,"target":${JSON.stringify(`${place}${originAt(batch, index).file}`)}}\n`;
    return Buffer.concat([bytesOf(batch, index, index + 1).subarray(0, -2), Buffer.from(target)]);
  });
  return { ...batch, bytes: joinBytes(parts), ends: Uint32Array.from(parts, ({ length }) => (end += length)) };
}

/** Longer records are split: then the next page continues the line. */
const MIN_PART_BYTES = 128 * 1024;

/** Whether what follows must start on a new line. Within a page the search engine takes care of that. */
function endsWithoutNewline({ bytes, ends }: RecordBatch, { order }: SearchQuery): boolean {
  const lastBytes = bytes.length - (ends[ends.length - 2] ?? 0);
  const isContinued = order === 'oldest' && lastBytes >= MIN_PART_BYTES;
  return bytes.at(-1) !== NEWLINE && !isContinued;
}

const NEWLINE = 10;

function afterNewline(batch: RecordBatch): RecordBatch {
  const bytes = Buffer.concat([Buffer.of(NEWLINE), batch.bytes]);
  return { ...batch, bytes, ends: batch.ends.map((end) => end + 1) };
}
