import { readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { WASM_BASE64 } from '../kernel/inflate-wasm.ts';
import { loadWasm } from '../kernel/load-wasm.ts';

/** A position in a gzip file from which decompression can resume. */
export interface GzResumePoint {
  textAt: number;
  /** Position in the file, in bits. */
  bitAt: number;
  /** Bit where the current block starts, equal to `bitAt` between two blocks, or -1 before the header of a member. */
  blockAt: number;
}

/** Why decompression cannot continue, and at which byte of the file. */
interface GzFault {
  kind: 'cut' | 'damaged' | 'trailing';
  detail: string;
}

/** Maximum distance of a match. */
const WINDOW_BYTES = 32_768;
const TRAILER_BYTES = 8;

const FAULTS: Partial<Record<InflateOutcome | HeaderOutcome, string>> = {
  BAD_BLOCK_TYPE: 'unknown block type',
  BAD_STORED_LENGTH: 'invalid length of a stored block',
  BAD_CODES: 'invalid prefix codes',
  BAD_SYMBOL: 'invalid symbol',
  BAD_DISTANCE: 'invalid match distance',
  unknownMethod: 'unknown compression method',
  unknownFlags: 'unknown header flags',
};

/** Decompresses a gzip file in steps, from its start or a resume point. The most recent text stays available. */
export class GzStream {
  readonly #kernel: InflateKernel = loadInflateKernel();
  readonly #input: GzInput;
  readonly #check = new MemberCheck();
  #state: 'header' | 'body' | 'trailer' | 'stopped' = 'header';
  #members = 0;
  #textAt = 0;
  /** Set when decompression cannot continue; `undefined` while it can, and at a regular end. */
  fault: GzFault | undefined;

  constructor(fd: number, sizeBytes: number, options?: GzInputOptions) {
    this.#input = new GzInput(this.#kernel, fd, sizeBytes, options);
  }

  /** Amount of text decompressed, counted from the start of the file. */
  get textAt(): number {
    return this.#textAt;
  }

  /** Start of the available text; it ends at `textAt`. */
  get textFrom(): number {
    return this.#textAt - (this.#kernel.out.value - this.#kernel.OUTPUT);
  }

  /** Decompression stopped, because of `fault` or at the end. */
  get isStopped(): boolean {
    return this.#state === 'stopped';
  }

  /** The first member whose checksum or length did not match, if the file was decompressed from its start. */
  get mismatch(): string | undefined {
    return this.#check.mismatch;
  }

  /** The current position, unless it is between a member's text and its trailer. */
  get resumePoint(): GzResumePoint | undefined {
    const { bitAt } = this.#input;
    if (this.#state === 'header') return { textAt: this.#textAt, bitAt, blockAt: -1 };
    if (this.#state === 'body') return { textAt: this.#textAt, bitAt, blockAt: this.#kernel.blockAt.value };
    return undefined;
  }

  /** A copy of the text that matches after the current position may refer to. */
  copyWindow(): Buffer {
    const { bytes, out, oldest } = this.#kernel;
    if (this.#state !== 'body') return Buffer.alloc(0);
    return Buffer.from(bytes.subarray(Math.max(oldest.value, out.value - WINDOW_BYTES), out.value));
  }

  /** Copies the available text within `[start, end)` and returns the number of bytes. */
  copyText(target: Buffer, at: number, start: number, end: number): number {
    const { bytes, OUTPUT, out } = this.#kernel;
    const from = OUTPUT + start - this.textFrom;
    if (from < OUTPUT || from >= out.value) return 0;
    return bytes.copy(target, at, from, Math.min(from + end - start, out.value));
  }

  /** Resumes at a checkpoint. False, with `fault` set, if the file has changed. */
  restore(resumePoint: GzResumePoint, window: Uint8Array): boolean {
    const kernel = this.#kernel;
    this.#check.giveUp();
    this.fault = undefined;
    this.#members = 1;
    kernel.bytes.set(window, kernel.OUTPUT);
    kernel.out.value = kernel.OUTPUT + window.length;
    this.#textAt = resumePoint.textAt;
    this.#state = resumePoint.blockAt < 0 ? 'header' : 'body';
    kernel.begin();
    kernel.oldest.value = kernel.OUTPUT;
    if (resumePoint.blockAt < 0 || resumePoint.blockAt === resumePoint.bitAt) return this.#seek(resumePoint.bitAt);
    return this.#seek(resumePoint.blockAt) && this.#openBlock() && this.#enterBlock(resumePoint.bitAt);
  }

  /** Performs one step of at most about `maxBytes` of text, possibly none. False if decompression cannot continue. */
  step(maxBytes: number): boolean {
    if (this.#state === 'header') return this.#openMember();
    if (this.#state === 'body') return this.#unpack(maxBytes);
    if (this.#state === 'trailer') return this.#closeMember();
    return false;
  }

  #openMember(): boolean {
    const first = this.#input.peek();
    // An empty file is an empty text, as it is uncompressed.
    if (first < 0) return this.#stop();
    const byteAt = this.#input.byteAt;
    if (first === 0 && this.#members > 0) return this.#passPadding();
    const outcome = readMemberHeader(this.#input);
    if (outcome === 'cut') return this.#stopCut();
    if (outcome === 'notGzip' && this.#members > 0) return this.#stopTrailing(byteAt);
    if (outcome === 'notGzip') return this.#stop({ kind: 'damaged', detail: 'not gzip data' });
    if (outcome === 'badSum') this.#check.noteMismatch(`checksum mismatch of the header at byte ${byteAt}`);
    else if (outcome !== 'good') return this.#stopDamaged(outcome, byteAt);
    this.#members++;
    this.#check.begin();
    this.#kernel.begin();
    this.#kernel.blockAt.value = this.#input.bitAt;
    this.#state = 'body';
    return true;
  }

  #unpack(maxBytes: number): boolean {
    const kernel = this.#kernel;
    if (kernel.out.value >= kernel.OUTPUT_END) kernel.slide();
    const from = kernel.out.value;
    const limit = Math.min(kernel.OUTPUT_END, from + maxBytes);
    const outcome = kernel.meaning(this.#input.lend((end, ended) => kernel.run(end, ended ? 1 : 0, limit)));
    const to = kernel.out.value;
    this.#textAt += to - from;
    this.#check.add(kernel.bytes, from, to);
    if (outcome === 'FULL') return true;
    if (outcome === 'NEEDS_INPUT') return this.#input.fill() || this.#stopCut();
    if (outcome !== 'DONE') return this.#stopDamaged(outcome, this.#input.byteAt);
    this.#input.alignToByte();
    this.#state = 'trailer';
    return true;
  }

  #closeMember(): boolean {
    const byteAt = this.#input.byteAt;
    const trailer = Buffer.allocUnsafe(TRAILER_BYTES);
    for (let i = 0; i < TRAILER_BYTES; i++) {
      const byte = this.#input.byte();
      if (byte < 0) return this.#stopCut();
      trailer[i] = byte;
    }
    this.#check.end(trailer, byteAt);
    this.#state = 'header';
    return true;
  }

  /** Tapes and some file systems pad with zeros, which are not an error. */
  #passPadding(): false {
    while (true) {
      const { byteAt } = this.#input;
      const bytes = this.#input.takeAll();
      if (bytes.length === 0) return this.#stop();
      if (bytes.equals(Buffer.alloc(bytes.length))) continue;
      return this.#stopTrailing(byteAt + bytes.findIndex((byte) => byte !== 0));
    }
  }

  #seek(bitAt: number): boolean {
    return this.#input.seek(bitAt) || this.#stopCut();
  }

  /** Restores the codes of the block in whose middle decompression resumes. */
  #openBlock(): boolean {
    const { openBlock, meaning } = this.#kernel;
    const outcome = meaning(this.#input.lend((end) => openBlock(end)));
    if (outcome === 'NEEDS_INPUT') return this.#input.fill() ? this.#openBlock() : this.#stopCut();
    return outcome === 'DONE' || this.#stopDamaged(outcome, this.#input.byteAt);
  }

  #enterBlock(bitAt: number): boolean {
    const { stored } = this.#kernel;
    const passedBytes = bitAt / 8 - this.#input.byteAt;
    // Has no effect in blocks of other kinds.
    stored.value = Math.max(stored.value - passedBytes, 0);
    return this.#seek(bitAt);
  }

  #stopCut(): false {
    return this.#stop({ kind: 'cut', detail: `unexpected end of file at byte ${this.#input.byteAt}` });
  }

  #stopDamaged(what: InflateOutcome | HeaderOutcome, byteAt: number): false {
    return this.#stop({ kind: 'damaged', detail: `${FAULTS[what] ?? what} at byte ${byteAt}` });
  }

  #stopTrailing(byteAt: number): false {
    return this.#stop({ kind: 'trailing', detail: `trailing garbage at byte ${byteAt} is ignored` });
  }

  #stop(fault?: GzFault): false {
    this.fault = fault;
    this.#state = 'stopped';
    return false;
  }
}

/* The header of a member of a gzip file (RFC 1952, 2.3). */

const MAGIC = [0x1f, 0x8b] as const;
const DEFLATE = 8;

const HAS_HEADER_SUM = 0x02;
const HAS_EXTRA = 0x04;
const HAS_NAME = 0x08;
const HAS_COMMENT = 0x10;
const UNKNOWN_FLAGS = 0xe0;

/** The result of reading a header; only after `good` and `badSum` can reading continue. */
type HeaderOutcome = 'good' | 'badSum' | 'cut' | 'notGzip' | 'unknownMethod' | 'unknownFlags';

/** Consumes a header from the input. */
function readMemberHeader(input: GzInput): HeaderOutcome {
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
class MemberCheck {
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

interface GzInputOptions {
  /** Called before each read of the file; may throw to abort. */
  beforeRead?: () => void;
}

/** The compressed bytes of a file, read into the kernel's memory as needed. */
class GzInput {
  readonly #kernel: InflateKernel;
  readonly #fd: number;
  readonly #sizeBytes: number;
  readonly #beforeRead: () => void;
  /** Addresses of the next byte and of the end of the input read so far. */
  #at: number;
  #end: number;
  /** Bits of the next byte that are consumed. */
  #used = 0;
  /** File offset of the next read. */
  #fileAt = 0;
  #ended = false;

  constructor(kernel: InflateKernel, fd: number, sizeBytes: number, { beforeRead = () => {} }: GzInputOptions = {}) {
    this.#kernel = kernel;
    this.#fd = fd;
    this.#sizeBytes = sizeBytes;
    this.#beforeRead = beforeRead;
    this.#at = kernel.INPUT;
    this.#end = kernel.INPUT;
  }

  /** Position in the file, in bits. */
  get bitAt(): number {
    return this.byteAt * 8 + this.#used;
  }

  /** Position in the file, in bytes; the byte may be partially consumed. */
  get byteAt(): number {
    return this.#fileAt - this.#end + this.#at;
  }

  /** False if the file ends before that bit. */
  seek(bitAt: number): boolean {
    const byteAt = Math.floor(bitAt / 8);
    const from = this.#at + byteAt - this.byteAt;
    this.#used = bitAt % 8;
    if (from >= this.#kernel.INPUT && from < this.#end) {
      this.#at = from;
      return true;
    }
    this.#at = this.#kernel.INPUT;
    this.#end = this.#at;
    this.#fileAt = byteAt;
    this.#ended = false;
    return this.fill();
  }

  /** The next byte, or -1 at the end of the file. */
  byte(): number {
    if (this.#at >= this.#end && !this.fill()) return -1;
    return this.#kernel.bytes[this.#at++] ?? -1;
  }

  /** The next byte, without consuming it. */
  peek(): number {
    if (this.#at >= this.#end && !this.fill()) return -1;
    return this.#kernel.bytes[this.#at] ?? -1;
  }

  /** All input that was read but not consumed, after reading more if there is none; empty at the end of the file. */
  takeAll(): Buffer {
    if (this.#at >= this.#end) this.fill();
    const from = this.#at;
    this.#at = this.#end;
    return this.#kernel.bytes.subarray(from, this.#at);
  }

  /** Skips the rest of a partially consumed byte. */
  alignToByte(): void {
    if (this.#used > 0) this.#at++;
    this.#used = 0;
  }

  /** Reads more input after what is left. False if there is no more. */
  fill(): boolean {
    const { bytes, INPUT, INPUT_BYTES } = this.#kernel;
    if (this.#ended) return false;
    this.#beforeRead();
    bytes.copyWithin(INPUT, this.#at, this.#end);
    this.#end += INPUT - this.#at;
    this.#at = INPUT;
    const room = Math.min(INPUT + INPUT_BYTES - this.#end, this.#sizeBytes - this.#fileAt);
    const got = room > 0 ? readSync(this.#fd, bytes, this.#end, room, this.#fileAt) : 0;
    this.#end += got;
    this.#fileAt += got;
    this.#ended = got === 0 || this.#fileAt >= this.#sizeBytes;
    return got > 0;
  }

  /** Lets the kernel consume input from here; `work` receives the end of the input and whether the file ends there. */
  lend(work: (end: number, ended: boolean) => number): number {
    const kernel = this.#kernel;
    kernel.seat(this.#at, this.#used, this.#fileAt - this.#end);
    const result = work(this.#end, this.#ended);
    this.#at = kernel.next.value;
    this.#used = kernel.used.value;
    return result;
  }
}

interface Variable {
  value: number;
}

/** The exports of kernel/inflate.ts; documented there. */
interface Exports {
  readonly next: Variable;
  readonly used: Variable;
  out: Variable;
  oldest: Variable;
  blockAt: Variable;
  stored: Variable;
  seat(from: number, bitsUsed: number, addressZero: number): void;
  begin(): void;
  slide(): void;
  openBlock(end: number): number;
  run(end: number, ended: number, limit: number): number;
}

interface InflateKernel extends Exports {
  /** All of its memory; positions in it are addresses. */
  bytes: Buffer;
  INPUT: number;
  INPUT_BYTES: number;
  OUTPUT: number;
  OUTPUT_END: number;
  /** The meaning of a return code of `run` or `openBlock`. */
  meaning(code: number): InflateOutcome;
}

type InflateOutcome = (typeof OUTCOMES)[number];

const OUTCOMES = [
  'DONE',
  'NEEDS_INPUT',
  'FULL',
  'BAD_BLOCK_TYPE',
  'BAD_STORED_LENGTH',
  'BAD_CODES',
  'BAD_SYMBOL',
  'BAD_DISTANCE',
] as const;

/** An inflater with its own memory (about 450 KiB). */
function loadInflateKernel(): InflateKernel {
  const { buffer, exports, constant } = loadWasm(WASM_BASE64);
  const meanings = new Map(OUTCOMES.map((name) => [constant(name), name]));
  return {
    ...(exports as unknown as Exports),
    bytes: Buffer.from(buffer),
    INPUT: constant('INPUT'),
    INPUT_BYTES: constant('INPUT_BYTES'),
    OUTPUT: constant('OUTPUT'),
    OUTPUT_END: constant('OUTPUT_END'),
    meaning: (code) => meanings.get(code) ?? 'BAD_SYMBOL',
  };
}
