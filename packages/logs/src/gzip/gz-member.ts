import { crc32 } from 'node:zlib';
import type { GzInput } from './gz-input.ts';

/* The header of a member of a gzip file (RFC 1952, 2.3). */

const MAGIC = [0x1f, 0x8b] as const;
const DEFLATE = 8;

const HAS_HEADER_SUM = 0x02;
const HAS_EXTRA = 0x04;
const HAS_NAME = 0x08;
const HAS_COMMENT = 0x10;
const UNKNOWN_FLAGS = 0xe0;

/** The result of reading a header; only after `good` and `badSum` can reading continue. */
export type HeaderOutcome = 'good' | 'badSum' | 'cut' | 'notGzip' | 'unknownMethod' | 'unknownFlags';

/** Consumes a header from the input. */
export function readMemberHeader(input: GzInput): HeaderOutcome {
  const header = new HeaderBytes(input);
  for (const magic of MAGIC) {
    const byte = header.next();
    if (byte < 0) return 'cut';
    if (byte !== magic) return 'notGzip';
  }
  const method = header.next();
  const flags = header.next();
  if (flags < 0) return 'cut';
  if (method !== DEFLATE) return 'unknownMethod';
  if ((flags & UNKNOWN_FLAGS) !== 0) return 'unknownFlags';
  // Modification time, compression level and operating system.
  header.skip(6);
  if ((flags & HAS_EXTRA) !== 0) header.skip(header.nextU16());
  if ((flags & HAS_NAME) !== 0) header.skipText();
  if ((flags & HAS_COMMENT) !== 0) header.skipText();
  if ((flags & HAS_HEADER_SUM) === 0) return header.isCut ? 'cut' : 'good';
  const sum = header.sum & 0xffff;
  const expectedSum = header.nextU16();
  if (header.isCut) return 'cut';
  return sum === expectedSum ? 'good' : 'badSum';
}

/** Longer fields are checksummed in pieces: a header may be larger than the buffer. */
const PIECE_BYTES = 256;

class HeaderBytes {
  readonly #input: GzInput;
  readonly #piece = Buffer.allocUnsafe(PIECE_BYTES);
  #pieceBytes = 0;
  #sum = 0;
  isCut = false;

  constructor(input: GzInput) {
    this.#input = input;
  }

  next(): number {
    const byte = this.#input.byte();
    if (byte < 0) {
      this.isCut = true;
      return byte;
    }
    if (this.#pieceBytes === PIECE_BYTES) this.#sumPiece();
    this.#piece[this.#pieceBytes++] = byte;
    return byte;
  }

  nextU16(): number {
    const low = this.next();
    return low + this.next() * 256;
  }

  skip(bytes: number): void {
    for (let left = bytes; left > 0 && !this.isCut; left--) this.next();
  }

  /** A text field ends with a zero byte. */
  skipText(): void {
    while (this.next() > 0);
  }

  /** Checksum of all bytes so far. */
  get sum(): number {
    this.#sumPiece();
    return this.#sum;
  }

  #sumPiece(): void {
    this.#sum = crc32(this.#piece.subarray(0, this.#pieceBytes), this.#sum);
    this.#pieceBytes = 0;
  }
}

/** Verifies the checksum and length in a member's trailer (RFC 1952, 2.3.1), if it was decompressed from its start. */
export class MemberCheck {
  #isOn = true;
  #crc = 0;
  #bytes = 0;
  /** The first mismatch. */
  mismatch: string | undefined;

  /** Stops checking: the text is no longer seen from its start. */
  giveUp(): void {
    this.#isOn = false;
  }

  begin(): void {
    this.#crc = 0;
    this.#bytes = 0;
  }

  add(bytes: Buffer, from: number, to: number): void {
    if (!this.#isOn || from === to) return;
    this.#crc = crc32(bytes.subarray(from, to), this.#crc);
    this.#bytes += to - from;
  }

  end(trailer: Buffer, byteAt: number): void {
    if (!this.#isOn) return;
    if (trailer.readUInt32LE(0) !== this.#crc)
      this.noteMismatch(`the text does not match the checksum at byte ${byteAt}`);
    // The length is stored modulo 4 GiB.
    else if (trailer.readUInt32LE(4) !== this.#bytes % 2 ** 32) {
      this.noteMismatch(`the text does not have the length stored at byte ${byteAt + 4}`);
    }
  }

  noteMismatch(detail: string): void {
    this.mismatch ??= detail;
  }
}
