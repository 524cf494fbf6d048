import type { Hash } from 'node:crypto';
import { once } from 'node:events';
import { crc32, createDeflateRaw } from 'node:zlib';
import { awaitedLater } from '@porthole/logs/shared';

/** What is compressed at once: each piece is a turn of the thread pool, and of this thread. */
const PIECE_BYTES = 256 * 1024;

/** Nearly all pieces fit when compressed. */
const OUTPUT_BYTES = 64 * 1024;

/** Logs become a hundredth larger than with level 3, in three quarters of its time. */
const LEVEL = 1;

interface DeflatedBytes {
  packed: Uint8Array;
  /** The checksum and the length of all that was read so far. */
  crc: number;
  bytes: number;
}

/**
 * Compresses a stream. Chunks are copied into pieces, which are hashed here while the thread pool compresses the one before.
 * The last bytes have the checksum and the length of all.
 */
export async function* deflate(
  chunks: AsyncIterable<Uint8Array>,
  hash: Hash,
): AsyncGenerator<DeflatedBytes, void, undefined> {
  const deflater = createDeflateRaw({ level: LEVEL, chunkSize: OUTPUT_BYTES });
  const packed: Uint8Array[] = [];
  deflater.on('data', (bytes: Uint8Array) => packed.push(bytes));
  // A write that fails says so itself.
  deflater.on('error', () => {});
  let [room, other] = [new Uint8Array(0), new Uint8Array(0)];
  let [crc, bytes, filled] = [0, 0, 0];
  let writing = Promise.resolve();
  async function* written() {
    await writing;
    for (const each of packed.splice(0)) yield { packed: each, crc, bytes };
  }
  async function* writePiece() {
    const piece = room.subarray(0, filled);
    hash.update(piece);
    crc = crc32(piece, crc);
    bytes += filled;
    yield* written();
    // Before the next piece.
    writing = awaitedLater(
      new Promise((resolve, reject) => {
        deflater.write(piece, (error) => (error ? reject(error) : resolve()));
      }),
    );
    [room, other] = [other, room];
    filled = 0;
  }
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; ) {
        const wanted = filled + chunk.length - at;
        // Most files are small.
        if (wanted > room.length && room.length < PIECE_BYTES) room = grown(room, filled, wanted);
        const taken = Math.min(chunk.length - at, room.length - filled);
        room.set(chunk.subarray(at, at + taken), filled);
        filled += taken;
        at += taken;
        if (filled === PIECE_BYTES) yield* writePiece();
      }
    }
    if (filled > 0) yield* writePiece();
    yield* written();
    const ended = once(deflater, 'end');
    deflater.end();
    await ended;
    yield* written();
  } finally {
    deflater.destroy();
  }
}

function grown(room: Uint8Array, filled: number, wanted: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(PIECE_BYTES, Math.max(2 * room.length, wanted)));
  larger.set(room.subarray(0, filled));
  return larger;
}
