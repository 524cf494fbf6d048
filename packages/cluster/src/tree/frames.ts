import { PortholeError } from '@porthole/contract';

/** What a frame of a helper's response is. */
export const FRAME = {
  /** It is at work: sent while there is nothing else to send. */
  beat: 0,
  /** The response of a member to a relayed request. */
  response: 1,
  /** A member that the asking node must ask itself. */
  direct: 2,
  /** What became of a member of a search. */
  state: 3,
  /** Lines of a search. */
  records: 4,
  /** Nothing comes after it. A response without it was cut off. */
  done: 5,
} as const;

export interface Frame {
  kind: number;
  /** Of the member, in the order of the request. */
  index: number;
  payload: Buffer;
}

/** A kind, the index of a member and the length of the payload. */
const HEAD_BYTES = 9;

const NOTHING = Buffer.alloc(0);

export function encodeFrame(kind: number, index = 0, payload: Uint8Array = NOTHING): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + payload.length);
  frame[0] = kind;
  frame.writeUInt32BE(index, 1);
  frame.writeUInt32BE(payload.length, 5);
  frame.set(payload, HEAD_BYTES);
  return frame;
}

/** Reads frames from chunks cut anywhere. The chunks come from another node: a longer frame is refused before it is read. */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  /** Bytes until the next frame, or its head, is complete. */
  #needed = HEAD_BYTES;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The frames that are complete. Throws BAD_ANSWER for one that is too long. */
  read(chunk: Uint8Array): Frame[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const frames: Frame[] = [];
    if (this.#bytes < this.#needed) return frames;
    // Joined only when a frame is complete: a long one comes in many chunks.
    let rest = this.#chunks.length === 1 ? toBuffer(chunk) : Buffer.concat(this.#chunks);
    while (rest.length >= HEAD_BYTES) {
      const length = rest.readUInt32BE(5);
      if (length > this.#maxBytes) throw new PortholeError('BAD_ANSWER', `a frame of ${length} bytes is too long`);
      this.#needed = HEAD_BYTES + length;
      if (rest.length < this.#needed) break;
      frames.push({
        kind: rest[0] as number,
        index: rest.readUInt32BE(1),
        payload: rest.subarray(HEAD_BYTES, this.#needed),
      });
      rest = rest.subarray(this.#needed);
      this.#needed = HEAD_BYTES;
    }
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#bytes = rest.length;
    return frames;
  }
}

function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, length);
}
