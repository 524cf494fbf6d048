import type { SearchEnd, SearchItem } from '@porthole/logs/types';
import { parseJson } from './ask.ts';
import { decodeEnd, decodeItem, decodeRecords, SkippedItems } from './decode-records.ts';
import type { Exchange } from './exchange.ts';
import { isItem } from './shapes.ts';

const NEWLINE = 10;

const NOTHING = new Uint8Array(0);

/** The lines of an answer as they come, whole ones; an empty piece first. Fails where the last one is not the end. */
export async function* searchLines(exchange: Exchange): AsyncGenerator<Uint8Array, void, undefined> {
  let last: Uint8Array = NOTHING;
  try {
    yield NOTHING;
    for await (const lines of wholeLines(exchange)) {
      last = lines.subarray(lines.lastIndexOf(NEWLINE, -2) + 1);
      yield lines;
    }
    const item = last.length === 0 ? undefined : parseJson(exchange, new TextDecoder().decode(last));
    if (!isItem(item) || item.type !== 'end') throw noEnd(exchange);
  } finally {
    exchange.close();
  }
}

/** The same, parsed: a batch for each chunk that came. What makes no sense is left out, and reported by the end. */
export async function* searchItems<T extends { type: string }>(
  exchange: Exchange,
): AsyncGenerator<T[], void, undefined> {
  const decoder = new TextDecoder();
  const skipped = new SkippedItems();
  let ended = false;
  try {
    yield [];
    for await (const lines of wholeLines(exchange)) {
      const items = parseLines(exchange, decoder.decode(lines), skipped);
      ended = items.at(-1)?.type === 'end';
      yield items as unknown as T[];
    }
    if (ended) return;
    throw skipped.count > 0 ? exchange.badAnswer(`${exchange.path}: ${skipped.detail}`) : noEnd(exchange);
  } finally {
    exchange.close();
  }
}

function parseLines(exchange: Exchange, text: string, skipped: SkippedItems): SearchItem[] {
  const items: SearchItem[] = [];
  for (let start = 0, end = text.indexOf('\n'); end >= 0; start = end + 1, end = text.indexOf('\n', start)) {
    if (end === start) continue;
    const item = decodeItem(text.slice(start, end), skipped);
    if (item?.type === 'record') items.push(...decodeRecords([item], skipped));
    else if (item?.type === 'end') items.push(withReport(decodeEnd(item, skipped), exchange, skipped));
    else if (item) skipped.note('an unknown item', item);
  }
  return items;
}

/** The end says what was left out before it. */
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

/** Chunks cut behind their last newline; what is behind it waits for the next. */
async function* wholeLines(exchange: Exchange): AsyncGenerator<Uint8Array, void, undefined> {
  const { maxItemBytes } = exchange.options;
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  for (let chunk = await exchange.read(); chunk; chunk = await exchange.read()) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    const firstEnd = end === 0 ? chunk.length : chunk.indexOf(NEWLINE);
    if (restBytes + firstEnd > maxItemBytes)
      throw exchange.badAnswer(`a line of ${exchange.path} is longer than maxItemBytes (${maxItemBytes})`);
    if (end > 0) {
      yield joined([...rest, chunk.subarray(0, end)]);
      rest = [];
      restBytes = 0;
    }
    if (end < chunk.length) rest.push(chunk.subarray(end));
    restBytes += chunk.length - end;
  }
  if (restBytes > 0) throw exchange.cut(`the answer of ${exchange.path} broke off within a line`);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only = NOTHING] = parts;
  if (parts.length <= 1) return only;
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function noEnd(exchange: Exchange): Error {
  return exchange.cut(`the answer of ${exchange.path} broke off before its end`);
}
