import { RECORDS_TYPE, type SearchOptions } from '@porthole/contract';
import type { FoundRecord, SearchEnd, SearchItem } from '@porthole/logs/types';
import { joinBytes, type RecordBatch } from '@porthole/records';
import { decodeEnd, decodeItem, decodeRecord, SkippedItems } from './decode-records.ts';
import type { ClientDeps, ClientRequest, Exchange } from './exchange.ts';
import { readFrames } from './read-frames.ts';
import { rejectPage, sendRequest } from './send-request.ts';

const NEWLINE = 10;

/** The requested numbers; more is rejected. What was not requested is up to the node. */
export interface SearchBounds {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** Maximum number of context records of each. */
  before?: number | undefined;
  after?: number | undefined;
}

/**
 * The items of a response, decoded: a batch for each received chunk, an empty one first. Invalid items are left out and
 * reported by the end. Fails if the last one is not the end, or if the node sends more than was requested.
 */
export function searchItems<T extends { type: string }>(
  exchange: Exchange,
  bounds: SearchBounds,
): AsyncGenerator<T[], void, undefined> {
  return readChunks(exchange, bounds, {
    nothing: [],
    take: (piece, state) => {
      const { items, ...taken } = takeItems(exchange, piece, state);
      return { ...taken, value: items as unknown as T[] };
    },
  });
}

const DECODER = new TextDecoder();

/** Whole lines of a response. */
export interface ReceivedLines {
  text: string;
  /** What the lines must be: `anything` is records, and the end behind them. */
  content: 'records' | 'end' | 'anything';
  /** The lines with their columns, as they were sent. */
  batch?: RecordBatch | undefined;
}

interface ReadState {
  bounds: SearchBounds;
  /** Records that may still come. */
  left: number;
  skipped: SkippedItems;
}

/** What was taken from a chunk: at most the records that may still come. */
interface Taken {
  records: number;
  /** Whether the end was the last item. */
  isEnd: boolean;
  /** Whether there are more records than requested. */
  isTooMuch: boolean;
}

interface ChunkReader<T> {
  nothing: T;
  take(received: ReceivedLines, state: ReadState): Taken & { value: T };
}

export async function* readChunks<T>(
  exchange: Exchange,
  bounds: SearchBounds,
  { nothing, take }: ChunkReader<T>,
): AsyncGenerator<T, void, undefined> {
  const skipped = new SkippedItems();
  let left = bounds.limit ?? Infinity;
  let ended = false;
  let isWhole = false;
  try {
    yield nothing;
    for await (const received of exchange.contentType === RECORDS_TYPE ? readFrames(exchange) : readLines(exchange)) {
      if (ended) throw exchange.badResponse(`${exchange.path}: more lines after the end`);
      const { value, records, isEnd, isTooMuch } = take(received, { bounds, left, skipped });
      left -= records;
      isWhole = isEnd;
      if (!isTooMuch || records > 0) yield value;
      if (isTooMuch) throw exchange.badResponse(`${exchange.path}: more than the requested ${bounds.limit} records`);
      ended = isEnd;
    }
    if (ended) return;
    throw skipped.count > 0 ? exchange.badResponse(`${exchange.path}: ${skipped.detail}`) : missingEnd(exchange);
  } finally {
    // Who has the end need not read on.
    if (isWhole) exchange.finish();
    else exchange.close();
  }
}

export function takeItems(
  exchange: Exchange,
  { text, content }: ReceivedLines,
  { bounds, left, skipped }: ReadState,
): Taken & { items: SearchItem[] } {
  const items = parseLines(exchange, { text, bounds }, skipped);
  const isEnd = items.at(-1)?.type === 'end';
  const records = isEnd ? items.length - 1 : items.length;
  if (isEnd ? content === 'records' : content === 'end' && records > 0)
    throw exchange.badResponse(`${exchange.path}: a frame has something else than it says`);
  if (records > left) return { items: items.slice(0, left), records: left, isEnd: false, isTooMuch: true };
  return { items, records, isEnd, isTooMuch: false };
}

interface LineBatch {
  text: string;
  bounds: SearchBounds;
}

function parseLines(exchange: Exchange, { text, bounds }: LineBatch, skipped: SkippedItems): SearchItem[] {
  const items: SearchItem[] = [];
  for (let start = 0, end = text.indexOf('\n'); end >= 0; start = end + 1, end = text.indexOf('\n', start)) {
    if (end === start) continue;
    const item = decodeItem(text.slice(start, end), skipped);
    if (item?.type === 'record') {
      const record = decodeRecord(item, skipped);
      if (record) items.push(record.before || record.after ? boundedRecord(record, bounds, skipped) : record);
    } else if (item?.type === 'end') {
      items.push(withReport(decodeEnd(item, skipped), exchange, skipped));
      break; // nothing comes after it
    } else if (item) skipped.note('an unknown item');
  }
  return items;
}

/** Without context records beyond those requested. */
function boundedRecord(record: FoundRecord, bounds: SearchBounds, skipped: SkippedItems): FoundRecord {
  for (const side of ['before', 'after'] as const) {
    const most = bounds[side] ?? Infinity;
    const given = record[side];
    if (given === undefined || given.length <= most) continue;
    skipped.note('more context records than requested');
    // Keeps the nearest ones: before the record, these are the last.
    record[side] = side === 'before' ? given.slice(given.length - most) : given.slice(0, most);
  }
  return record;
}

/** Adds what was left out to the end. */
function withReport<T extends SearchEnd>(end: T, { path, options }: Exchange, { count, detail }: SkippedItems): T {
  if (count === 0) return end;
  const text = `${path}: ${detail}`;
  if (!('members' in end)) {
    return { ...end, problems: [...(end.problems ?? []), { file: '', code: 'BAD_ANSWER', detail: text }] };
  }
  const report = {
    id: new URL(options.base).host,
    outcome: 'version',
    detail: text,
    elapsedMs: 0,
    count: 0,
    asOfMs: null,
  };
  return { ...end, members: [...(end.members as object[]), report] };
}

/** A longer chunk is not copied as a whole, to be one piece with the line it starts within. */
const MAX_COPIED_BYTES = 32 * 1024;

async function* readLines(exchange: Exchange): AsyncGenerator<ReceivedLines, void, undefined> {
  for await (const lines of wholeLines(exchange)) yield { text: DECODER.decode(lines), content: 'anything' };
}

/** Chunks cut after their last newline; the rest is prepended to the next. */
async function* wholeLines(exchange: Exchange): AsyncGenerator<Uint8Array, void, undefined> {
  const { maxItemBytes } = exchange.options;
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  for (let chunk = await exchange.read(); chunk; chunk = await exchange.read()) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    const firstEnd = end === 0 ? chunk.length : chunk.indexOf(NEWLINE);
    exchange.hold(chunk.length);
    if (restBytes + firstEnd > maxItemBytes)
      throw exchange.badResponse(`a line of ${exchange.path} is longer than maxItemBytes (${maxItemBytes})`);
    if (end > 0) {
      // Only the line that came in parts is copied if the chunk is long: copies of all would be most of what is allocated.
      const joined = restBytes > 0 && end > MAX_COPIED_BYTES ? firstEnd + 1 : end;
      yield joinBytes([...rest, chunk.subarray(0, joined)]);
      if (joined < end) yield chunk.subarray(joined, end);
      rest = [];
      restBytes = 0;
    }
    if (end < chunk.length) rest.push(chunk.subarray(end));
    restBytes += chunk.length - end;
    exchange.holdOnly(restBytes);
  }
  if (restBytes > 0) throw exchange.cut(`the response of ${exchange.path} was cut off within a line`);
}

function missingEnd(exchange: Exchange): Error {
  return exchange.cut(`the response of ${exchange.path} was cut off before its end`);
}

/* Requests for which a node scans logs. */

/** The share of the timeout that the node may scan; the rest is for the network. */
const SCAN_SHARE = 0.8;

/** Opens a response of lines. */
export async function openSearch(
  request: Pick<ClientRequest, 'path' | 'query' | 'headers'>,
  { signal, budgetMs }: SearchOptions,
  deps: ClientDeps,
): Promise<Exchange> {
  // It may scan all that time without finding anything.
  const limits = budgetMs === undefined ? {} : { scanMs: budgetMs, isPaced: true };
  const exchange = await sendRequest({ ...request, signal, ...limits }, deps);
  try {
    rejectPage(exchange);
    if (exchange.contentType !== 'application/x-ndjson' && exchange.contentType !== RECORDS_TYPE)
      throw exchange.badResponse(`the response of ${exchange.path} is not a stream of records`);
    return exchange;
  } catch (error) {
    exchange.close();
    throw error;
  }
}

/** A count is one response: the budget lets the node end it in time, with its coverage. */
export function countLimits({ signal, budgetMs }: SearchOptions, { options: { timeoutMs } }: ClientDeps) {
  return budgetMs === undefined
    ? { signal, budget: { budgetMs: timeoutMs * SCAN_SHARE } }
    : { signal, budget: { budgetMs }, scanMs: budgetMs };
}
