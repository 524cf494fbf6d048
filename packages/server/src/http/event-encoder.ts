import type { FollowItem } from '@porthole/logs';

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
export class EventEncoder {
  readonly #frames = new WeakMap<object, Buffer>();

  encode(items: readonly FollowItem[]): Buffer {
    const [first] = items;
    if (items.length === 1 && first) return this.#frameOf(first);
    return Buffer.concat(items.map((item) => this.#frameOf(item)));
  }

  #frameOf(item: FollowItem): Buffer {
    if (item.type !== 'record') return frame(item);
    const known = this.#frames.get(item);
    if (known) return known;
    const made = frame(item);
    this.#frames.set(item, made);
    return made;
  }
}

/** Only records have an id: what a client resumes after is always a record. */
function frame(item: FollowItem): Buffer {
  const id = item.type === 'record' ? `id: ${item.cursor}\n` : '';
  return Buffer.from(`event: ${item.type}\n${id}data: ${JSON.stringify(item)}\n\n`);
}
