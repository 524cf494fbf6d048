import { readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { decodeBzip2 } from './decode-bzip2.ts';
import { decodeXz } from './decode-xz.ts';
import { decodeZstd } from './decode-zstd.ts';
import { type Decoding, PackedInput } from './packed-input.ts';

/** Compressed bytes read at once by a thread. */
const READ_BYTES = 64 * 1024;

export type DecoderName = 'zstd' | 'xz' | 'bzip2';

const DECODERS: Record<DecoderName, (input: PackedInput) => Decoding> = {
  zstd: decodeZstd,
  xz: decodeXz,
  bzip2: decodeBzip2,
};

/** The text of a file, for a thread that may block. Pieces are valid until the next one. Throws `DecodeFault`. */
export function* decodeSync(
  { fd, sizeBytes, decoder }: { fd: number; sizeBytes: number; decoder: DecoderName },
  beforeRead: () => void,
): Generator<Uint8Array, void, undefined> {
  const input = new PackedInput();
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  let position = 0;
  for (const piece of DECODERS[decoder](input)) {
    if (piece !== undefined) {
      if (piece.length > 0) yield piece;
      continue;
    }
    beforeRead();
    const got = readSync(fd, buffer, 0, Math.min(READ_BYTES, sizeBytes - position), position);
    if (got === 0) input.end();
    else input.push(buffer.subarray(0, got));
    position += got;
  }
}

/** The last turn of any decoder of this thread: they share its event loop, however many they are. */
let lastTurn: Promise<void> = Promise.resolve(); // kept: turns of the event loop, which never fail

/** Resolves in a turn of the event loop that no other decoder takes. */
function takeTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => nextTurn());
  return lastTurn;
}

/**
 * The text of compressed chunks. Each step has a turn of its own, because decoding takes more time than reading. Throws
 * `DecodeFault`. `onEnd` receives the number of compressed bytes consumed.
 */
export async function* decodeChunks(
  decoder: DecoderName,
  chunks: AsyncGenerator<Buffer, void, undefined>,
  onEnd: (packedBytes: number) => void = () => {},
): AsyncGenerator<Buffer, void, undefined> {
  const input = new PackedInput();
  try {
    const steps = DECODERS[decoder](input);
    while (true) {
      await takeTurn();
      const { value: piece, done } = steps.next();
      if (done) break;
      if (piece === undefined) {
        const next = await chunks.next();
        if (next.done) input.end();
        else input.push(next.value);
      } else if (piece.length > 0) yield Buffer.from(piece);
    }
    onEnd(input.position);
  } finally {
    await chunks.return();
  }
}
