import type { IncomingHttpHeaders } from 'node:http';
import { exactJson, optionalValue, type Query } from '@porthole/contract';
import { type FollowItem, resumeCursor } from '@porthole/logs';

export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Without it, nginx buffers events.
  'x-accel-buffering': 'no',
} as const;

/** Sent first: clients reconnect after one second, instead of the browser's three or more. */
export const RETRY_FRAME = Buffer.from('retry: 1000\n\n');

/** A comment, which clients ignore. */
export const HEARTBEAT_FRAME = Buffer.from(': still here\n\n');

/** Encodes items as server-sent events. A record that goes to many followers is encoded once. */
export class EventEncoder<T extends { type: string }> {
  readonly #getId: (item: T) => string | undefined;
  readonly #frames = new WeakMap<object, Buffer>();

  /** Clients resume after the last event with an id. */
  constructor(getId: (item: T) => string | undefined) {
    this.#getId = getId;
  }

  encode(items: readonly T[]): Buffer {
    const [first] = items;
    if (items.length === 1 && first) return this.#getFrame(first);
    return Buffer.concat(items.map((item) => this.#getFrame(item)));
  }

  #getFrame(item: T): Buffer {
    if (item.type !== 'record') return this.#frame(item);
    const known = this.#frames.get(item);
    if (known) return known;
    const made = this.#frame(item);
    this.#frames.set(item, made);
    return made;
  }

  #frame(item: T): Buffer {
    const id = this.#getId(item);
    const idLine = id === undefined ? '' : `id: ${id}\n`;
    return Buffer.from(`event: ${item.type}\n${idLine}data: ${exactJson(item)}\n\n`);
  }
}

/** Only records have an id, as clients resume after a record. An unfinished line has none: it is sent again when complete. */
export function cursorId(item: FollowItem): string | undefined {
  return item.type === 'record' && !item.unfinished ? resumeCursor(item) : undefined;
}

/** The id of the last event a reconnecting client has seen; an id that is too long for a header is sent as a parameter. */
export function lastEventId({ headers, query }: { headers: IncomingHttpHeaders; query: Query }): string | undefined {
  const { 'last-event-id': id } = headers;
  return (Array.isArray(id) ? id[0] : id) ?? optionalValue(query, 'Last-Event-ID');
}
