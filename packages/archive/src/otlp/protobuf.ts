/*
 * As much of the encoding of Protocol Buffers as the messages of OTLP need:
 * https://protobuf.dev/programming-guides/encoding
 */

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** Writes the fields of a message, by number. */
export class ProtoWriter {
  #bytes: Buffer;
  #length = 0;

  constructor(size = 1024) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  /** What a message of so many bytes begins with. */
  static head(field: number, length: number): Buffer {
    const head = new ProtoWriter(16);
    head.#tag(field, BYTES);
    head.#varint(length);
    return head.written;
  }

  get written(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  bool(field: number, value: boolean): void {
    this.#tag(field, VARINT);
    this.#varint(value ? 1 : 0);
  }

  /** A whole number that is exact, of any sign. */
  int(field: number, value: number): void {
    this.#tag(field, VARINT);
    if (value >= 0) this.#varint(value);
    else {
      // As the 64 bits it has in memory.
      let left = BigInt.asUintN(64, BigInt(value));
      for (; left > 0x7fn; left >>= 7n) this.#byte(Number(left & 0x7fn) | 0x80);
      this.#byte(Number(left));
    }
  }

  double(field: number, value: number): void {
    this.#tag(field, FIXED64);
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  fixed64(field: number, value: bigint): void {
    this.#tag(field, FIXED64);
    this.#reserve(8);
    this.#length = this.#bytes.writeBigUInt64LE(value, this.#length);
  }

  fixed32(field: number, value: number): void {
    this.#tag(field, FIXED32);
    this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  /** Halves of characters, which are no text, become U+FFFD. */
  text(field: number, value: string): void {
    this.bytes(field, Buffer.from(value));
  }

  bytes(field: number, value: Buffer): void {
    this.#tag(field, BYTES);
    this.#varint(value.length);
    this.#reserve(value.length);
    this.#length += value.copy(this.#bytes, this.#length);
  }

  message(field: number, write: () => void): void {
    this.#tag(field, BYTES);
    this.#byte(0);
    const start = this.#length;
    write();
    const length = this.#length - start;
    if (length > 0x7f) {
      // The length takes more than the one byte that was left for it.
      const more = Math.floor(Math.log2(length) / 7);
      this.#reserve(more);
      this.#bytes.copyWithin(start + more, start, this.#length);
    }
    this.#length = start - 1;
    this.#varint(length);
    this.#length += length;
  }

  #tag(field: number, type: number): void {
    this.#varint(field * 8 + type);
  }

  #varint(value: number): void {
    let left = value;
    for (; left > 0x7f; left = Math.floor(left / 128)) this.#byte((left % 128) | 0x80);
    this.#byte(left);
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, needed));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

/** A field of a message: a number, or the bytes of a text or message. Other types are left out. */
export interface ProtoField {
  field: number;
  value: number | Buffer;
  /** The field as a whole. */
  whole: Buffer;
}

/** The fields of a message; throws a `RangeError` if it is none. */
export function readFields(bytes: Buffer): ProtoField[] {
  const fields: ProtoField[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; factor < 2 ** 64; factor *= 128) {
      const byte = bytes.readUInt8(at++);
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
    throw new RangeError('a number has more than ten bytes');
  };
  while (at < bytes.length) {
    const start = at;
    const tag = varint();
    const [field, type] = [Math.floor(tag / 8), tag % 8];
    if (type === VARINT) fields.push({ field, value: varint(), whole: bytes.subarray(start, at) });
    else if (type === BYTES) {
      const length = varint();
      at += length;
      if (at > bytes.length) throw new RangeError('a message is longer than what it is in');
      fields.push({ field, value: bytes.subarray(at - length, at), whole: bytes.subarray(start, at) });
    } else if (type === FIXED64 || type === FIXED32) at += type === FIXED64 ? 8 : 4;
    else throw new RangeError(`there is no type ${type}`);
  }
  if (at > bytes.length) throw new RangeError('a number is cut');
  return fields;
}
