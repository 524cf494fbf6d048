import { crc32 } from 'node:zlib';

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
