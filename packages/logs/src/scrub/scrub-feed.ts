import { MAX_BYTES_PER_BYTE } from './escape-reader.ts';
import { MAX_NEEDLE_BYTES } from './needle-table.ts';
import type { Scrubber } from './scrubber.ts';

/** Kept of the text already returned, so that a secret that becomes known later is still recognised where it began. */
const LEAST_KEPT_BYTES = MAX_NEEDLE_BYTES * MAX_BYTES_PER_BYTE;

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Scrubs a text that arrives in pieces. What may be the beginning of a secret at the end of a piece is held back until
 * that is decided, or the text ends.
 */
export class ScrubFeed {
  readonly #scrubber: () => Scrubber | undefined;
  /** Already returned, unmasked. */
  #before: Buffer = NOTHING;
  #held: Buffer = NOTHING;

  /** `before` is what precedes the first piece, or the end of it. */
  constructor(scrubber: () => Scrubber | undefined, before: Buffer = NOTHING) {
    this.#scrubber = scrubber;
    this.#keep(NOTHING, before);
  }

  get heldBytes(): number {
    return this.#held.length;
  }

  /** What can be returned, together with what was held back; the piece itself if nothing is scrubbed. */
  push(data: Buffer): Buffer {
    const scrubber = this.#scrubber();
    if (!scrubber && this.#held.length === 0) {
      this.#keep(this.#before, data);
      return data;
    }
    return this.#pass(data, { atEnd: false, scrubber });
  }

  /** What was held back, masked if it may be a secret: the text ends, or pauses. */
  end(): Buffer {
    return this.#held.length === 0 ? NOTHING : this.#pass(NOTHING, { atEnd: true, scrubber: this.#scrubber() });
  }

  #pass(data: Buffer, { atEnd, scrubber }: { atEnd: boolean; scrubber: Scrubber | undefined }): Buffer {
    const bytes = Buffer.concat([this.#before, this.#held, data]);
    const from = this.#before.length;
    const open = atEnd || !scrubber ? 0 : Math.min(scrubber.openBytes(bytes), bytes.length - from);
    const to = bytes.length - open;
    this.#held = Buffer.from(bytes.subarray(to));
    this.#keep(NOTHING, bytes.subarray(0, to));
    scrubber?.mask(bytes, { from, to, atEnd });
    return bytes.subarray(from, to);
  }

  #keep(before: Buffer, passed: Buffer): void {
    const most = Math.max(this.#scrubber()?.leftBytes ?? 0, LEAST_KEPT_BYTES);
    const kept = passed.length >= most ? passed.subarray(passed.length - most) : Buffer.concat([before, passed]);
    this.#before = Buffer.from(kept.subarray(-most));
  }
}

/** A part of a text, or what exists of it, scrubbed: `read` is also called for its surroundings. */
export async function* scrubRange(
  read: (start: number, end: number) => AsyncIterable<Buffer>,
  start: number,
  end: number,
  scrubber: Scrubber | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  if (!scrubber) {
    yield* read(start, end);
    return;
  }
  let position = Math.max(0, start - scrubber.leftBytes);
  for await (const chunk of scrubChunks(read(position, end + scrubber.rightBytes), scrubber)) {
    const from = Math.max(start - position, 0);
    const to = Math.min(end - position, chunk.length);
    position += chunk.length;
    if (from < to) yield chunk.subarray(from, to);
  }
}

/**
 * The end of a text that was cut at an arbitrary position, scrubbed without access to what precedes it: what may be the
 * end of a secret at its start is masked, too.
 */
export async function* scrubTail(
  chunks: AsyncIterable<Uint8Array>,
  scrubber: Scrubber | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (!scrubber) {
    yield* chunks;
    return;
  }
  const feed = new ScrubFeed(() => scrubber);
  let first: Buffer | undefined = NOTHING;
  const pass = (start: Buffer): Buffer => {
    first = undefined;
    scrubber.maskCut(start);
    return feed.push(start);
  };
  for await (const chunk of chunks) {
    if (!first) {
      yield feed.push(Buffer.from(chunk));
      continue;
    }
    first = Buffer.concat([first, chunk]);
    if (first.length > scrubber.rightBytes) yield pass(first);
  }
  if (first) yield pass(first);
  yield feed.end();
}

async function* scrubChunks(
  chunks: AsyncIterable<Buffer>,
  scrubber: Scrubber,
): AsyncGenerator<Buffer, void, undefined> {
  const feed = new ScrubFeed(() => scrubber);
  for await (const chunk of chunks) yield feed.push(chunk);
  yield feed.end();
}
