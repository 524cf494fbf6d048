import { readSync } from 'node:fs';
import type { InflateKernel } from './inflate-kernel.ts';

export interface GzInputOptions {
  /** Called before each read of the file; may throw to abort. */
  beforeRead?: () => void;
}

/** The compressed bytes of a file, read into the kernel's memory as needed. */
export class GzInput {
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
