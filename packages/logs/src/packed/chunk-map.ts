import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { GzStream } from '../gzip/gz-stream.ts';
import { type DecoderName, decodeSync } from './decoders.ts';
import { DecodeFault } from './packed-input.ts';
import { type Utf16, Utf16Decoder } from './utf16.ts';

/** Text of one chunk: as much as a block of the search, which is read at once. */
const CHUNK_BYTES = 256 * 1024;

/**
 * zstd, xz and bzip2 files can only be decoded from their start, or from points that take as much memory as the text
 * between them. So their text is kept, compressed in chunks that can be read in any order: log text deflates to an
 * eighth (measured on 16 kinds of logs), so this is enough for 250 MiB of it.
 */
const MAX_PACKED_BYTES = 32 * 1024 ** 2;

/** Text inflated in one step, which may exceed it a little. */
const STEP_BYTES = 128 * 1024;

/** Fast, and the difference in size is small. */
const DEFLATE_LEVEL = 1;

export interface PackedProblem {
  code: 'LOG_FILE_CORRUPT' | 'LOG_FILE_UNSUPPORTED';
  detail: string;
}

/** The text of a file that can only be decoded from its start. Plain data that threads share without copies. */
export interface ChunkMap {
  kind: 'chunks';
  /** Length of the readable text. */
  textBytes: number;
  /** Why only a part of the file can be read. */
  problem: PackedProblem | null;
  /** The offsets of the chunks, as 64-bit floats, and their bytes. */
  shared: SharedArrayBuffer;
}

export interface ChunkedFile {
  fd: number;
  sizeBytes: number;
  decoder: DecoderName | 'gzip';
  /** If its text is UTF-16, which is transcoded. */
  encoding?: Utf16 | undefined;
}

export interface BuildChunkMapOptions {
  /** Polled before every read and every piece of text; if true, building throws an AbortError. */
  isCancelled?: () => boolean;
  maxPackedBytes?: number;
}

/** Decodes a file once. Damage is reported in the map of what can be read; throws if reading fails. */
export function buildChunkMap(
  file: ChunkedFile,
  { isCancelled = () => false, maxPackedBytes = MAX_PACKED_BYTES }: BuildChunkMapOptions = {},
): ChunkMap {
  const goOnOrThrow = () => {
    if (isCancelled()) throw new DOMException('unpacking was cancelled', 'AbortError');
  };
  const chunks = new Chunks();
  const decoder = file.encoding && new Utf16Decoder(file.encoding);
  let problem: PackedProblem | null = null;
  try {
    for (const piece of readPieces(file, goOnOrThrow)) {
      goOnOrThrow();
      chunks.add(decoder ? decoder.write(piece) : piece);
      if (chunks.packedBytes <= maxPackedBytes) continue;
      problem = { code: 'LOG_FILE_UNSUPPORTED', detail: limitDetail(chunks.flushedBytes) };
      break;
    }
  } catch (error) {
    if (!(error instanceof DecodeFault)) throw error;
    const code = error.kind === 'unsupported' ? 'LOG_FILE_UNSUPPORTED' : 'LOG_FILE_CORRUPT';
    problem = { code, detail: error.message };
  }
  if (problem?.code !== 'LOG_FILE_UNSUPPORTED') chunks.flush();
  return { kind: 'chunks', textBytes: chunks.flushedBytes, problem, shared: chunks.toShared() };
}

function readPieces({ decoder, ...file }: ChunkedFile, beforeRead: () => void): Iterable<Uint8Array> {
  return decoder === 'gzip' ? inflateSync(file, beforeRead) : decodeSync({ ...file, decoder }, beforeRead);
}

function* inflateSync({ fd, sizeBytes }: Omit<ChunkedFile, 'decoder'>, beforeRead: () => void): Generator<Uint8Array> {
  const stream = new GzStream(fd, sizeBytes, { beforeRead });
  const piece = Buffer.allocUnsafe(2 * STEP_BYTES);
  for (let from = 0; stream.step(STEP_BYTES); from = stream.textAt) {
    yield piece.subarray(0, stream.copyText(piece, 0, from, stream.textAt));
  }
  const { fault, mismatch } = stream;
  if (fault) throw new DecodeFault(fault.kind, fault.detail);
  if (mismatch !== undefined) throw new DecodeFault('damaged', mismatch);
}

function limitDetail(textBytes: number): string {
  const read = Math.floor(textBytes / 1024 ** 2);
  return `only the first ${read} MiB of its text are read; decompress it, or have rotated files compressed with gzip`;
}

class Chunks {
  readonly #chunks: Buffer[] = [];
  readonly #text = Buffer.allocUnsafe(CHUNK_BYTES);
  #filled = 0;
  packedBytes = 0;
  flushedBytes = 0;

  add(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; ) {
      const count = Math.min(piece.length - at, CHUNK_BYTES - this.#filled);
      this.#text.set(piece.subarray(at, at + count), this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled === CHUNK_BYTES) this.flush();
    }
  }

  flush(): void {
    if (this.#filled === 0) return;
    const packed = deflateRawSync(this.#text.subarray(0, this.#filled), { level: DEFLATE_LEVEL });
    this.#chunks.push(packed);
    this.packedBytes += packed.length;
    this.flushedBytes += this.#filled;
    this.#filled = 0;
  }

  toShared(): SharedArrayBuffer {
    const tableBytes = (this.#chunks.length + 1) * Float64Array.BYTES_PER_ELEMENT;
    const shared = new SharedArrayBuffer(tableBytes + this.packedBytes);
    const table = new Float64Array(shared, 0, this.#chunks.length + 1);
    const bytes = Buffer.from(shared);
    let at = tableBytes;
    for (const [index, chunk] of this.#chunks.entries()) {
      table[index] = at;
      chunk.copy(bytes, at);
      at += chunk.length;
    }
    table[this.#chunks.length] = at;
    return shared;
  }
}

/** The text of a chunk map, readable at any offset. */
export class ChunkText {
  readonly sizeBytes: number;
  readonly #shared: SharedArrayBuffer;
  readonly #offsets: Float64Array;
  /** The last one, and its neighbours: what is read ends within the next one, also by those who read backwards. */
  #kept: { index: number; text: Buffer }[] = [];

  constructor({ textBytes, shared }: ChunkMap) {
    this.sizeBytes = textBytes;
    this.#shared = shared;
    this.#offsets = new Float64Array(shared, 0, Math.ceil(textBytes / CHUNK_BYTES) + 1);
  }

  /**
   * Copies text `[position, position + length)` to `target` at `at`. Returns the number of bytes, fewer only at the end
   * of the text.
   */
  read(target: Buffer, at: number, position: number, length: number): number {
    const end = Math.min(position + Math.min(length, target.length - at), this.sizeBytes);
    for (let offset = position; offset < end; ) {
      const index = Math.floor(offset / CHUNK_BYTES);
      const from = offset - index * CHUNK_BYTES;
      offset += this.#chunk(index).copy(target, at + offset - position, from, from + end - offset);
    }
    return Math.max(0, end - position);
  }

  #chunk(index: number): Buffer {
    const known = this.#kept.find((kept) => kept.index === index);
    if (known) return known.text;
    const [from = 0, end = from] = this.#offsets.subarray(index, index + 2);
    const text = inflateRawSync(Buffer.from(this.#shared, from, end - from));
    this.#kept = [...this.#kept.filter((kept) => Math.abs(kept.index - index) === 1), { index, text }];
    return text;
  }
}
