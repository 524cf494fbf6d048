import { GzInput, type GzInputOptions } from './gz-input.ts';
import { type HeaderOutcome, MemberCheck, readMemberHeader } from './gz-member.ts';
import { type InflateKernel, type InflateOutcome, loadInflateKernel } from './inflate-kernel.ts';

/** A position in a gzip file from which decompression can resume. */
export interface GzResumePoint {
  textAt: number;
  /** Position in the file, in bits. */
  bitAt: number;
  /** Bit where the current block starts, equal to `bitAt` between two blocks, or -1 before the header of a member. */
  blockAt: number;
}

/** Why decompression cannot continue, and at which byte of the file. */
export interface GzFault {
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
