import { POSITION_COMMENT } from '@porthole/contract';
import { createParser } from 'eventsource-parser';
import { decodeFollowItem, SkippedItems } from '../decode-records.ts';
import { notSupported } from '../errors/response-error.ts';
import type { Exchange } from '../exchange.ts';
import { remoteText } from '../field-checks.ts';

/** The content of a chunk of an event stream. */
export interface EventBatch<T> {
  items: T[];
  /** Event id of each item; sent back to resume after it. */
  ids: (string | undefined)[];
  /** A heartbeat. */
  heartbeat: boolean;
  /** Minimum reconnect delay requested by the node. */
  retryMs: number | undefined;
}

export async function* readEvents<T extends { type: string }>(
  exchange: Exchange,
): AsyncGenerator<EventBatch<T>, void, undefined> {
  const { maxItemBytes } = exchange.options;
  let batch = emptyBatch<T>();
  let skipped = new SkippedItems();
  const parser = createParser({
    maxBufferSize: maxItemBytes,
    onEvent: ({ data, id }) => {
      const item = decodeFollowItem(data, skipped);
      if (!item) return;
      batch.items.push(item as T);
      batch.ids.push(id);
    },
    onComment: (text) => {
      batch.heartbeat = true;
      const item = text.startsWith(POSITION_COMMENT) && decodeFollowItem(text.slice(POSITION_COMMENT.length), skipped);
      if (!item) return;
      batch.items.push(item as T);
      batch.ids.push(undefined);
    },
    onRetry: (retryMs) => {
      batch.retryMs = retryMs;
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded')
        throw exchange.badResponse(`an event of ${exchange.path} is longer than maxItemBytes (${maxItemBytes})`);
    },
  });
  const decoder = new TextDecoder();
  try {
    for (let chunk = await exchange.read(); chunk; chunk = await exchange.read()) {
      exchange.hold(chunk.length);
      parser.feed(decoder.decode(chunk, { stream: true }));
      if (skipped.count > 0) {
        const detail = `${exchange.path}: ${skipped.detail}`;
        batch.items.push({ type: 'skipped', count: skipped.count, detail } as unknown as T);
        skipped = new SkippedItems();
      }
      yield batch;
      // The incomplete event is at most as long as the last chunk.
      if (batch.items.length > 0 || batch.heartbeat) exchange.holdOnly(chunk.length);
      batch = emptyBatch();
    }
  } finally {
    exchange.close();
  }
}

function emptyBatch<T>(): EventBatch<T> {
  return { items: [], ids: [], heartbeat: false, retryMs: undefined };
}

/** A successful response may not be an event stream. */
export function checkEventStream(exchange: Exchange): void {
  const { contentType, path } = exchange;
  if (contentType === 'text/event-stream') return;
  if (contentType === 'text/html') throw notSupported(path, exchange, 'the response is a web page');
  const given = exchange.options.hidesTexts ? 'something else' : remoteText(contentType || 'something without a type');
  throw exchange.badResponse(`the response of ${path} is ${given} instead of events`);
}
