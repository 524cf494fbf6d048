import type { IncomingHttpHeaders } from 'node:http';
import { exactJson, optionalValue, type Query } from '@porthole/contract';
import { type FollowItem, resumeCursor } from '@porthole/logs';

export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // nginx would collect events until a buffer is full.
  'x-accel-buffering': 'no',
} as const;

/** Sent first: a follower that is cut comes back after a second, instead of the browser's three or more. */
export const RETRY_FRAME = Buffer.from('retry: 1000\n\n');

/** A comment, which clients pass over. */
export const HEARTBEAT_FRAME = Buffer.from(': still here\n\n');

/** Items as server-sent events. A record that goes to many followers is written out once. */
export class EventEncoder<T extends { type: string }> {
  readonly #getId: (item: T) => string | undefined;
  readonly #frames = new WeakMap<object, Buffer>();

  /** What has an id is what a client resumes after. */
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

/** Only records have an id: what a client resumes after is always a record. A line without its end is sent again, whole. */
export function cursorId(item: FollowItem): string | undefined {
  return item.type === 'record' && !item.unfinished ? resumeCursor(item) : undefined;
}

/** The id of the last event that a client which comes back has seen; one that is too long for a header is a parameter. */
export function lastEventId({ headers, query }: { headers: IncomingHttpHeaders; query: Query }): string | undefined {
  const { 'last-event-id': id } = headers;
  return (Array.isArray(id) ? id[0] : id) ?? optionalValue(query, 'Last-Event-ID');
}
