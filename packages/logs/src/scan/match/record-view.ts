import type { Format, FormatName, RecordFields } from '../../parse/format.ts';
import { trimHole } from '../block/nul-holes.ts';
import { spanText } from '../block/record-formatter.ts';

/** A record to test: its bytes, text and fields, each made when first needed. Reused, as few records match. */
export class RecordView {
  #all: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  #format: Format | undefined;
  #bytes: Buffer | undefined;
  #text: string | undefined;
  #fields: RecordFields | undefined;

  /** Shows the record `[start, end)`. Without a format it has no columns: all of it is message. */
  show(bytes: Buffer, start: number, end: number, format: Format | undefined): this {
    this.#all = bytes;
    this.#start = start;
    this.#end = end;
    this.#format = format;
    this.#bytes = undefined;
    this.#text = undefined;
    this.#fields = undefined;
    return this;
  }

  /** `undefined` if it has no columns. */
  get formatName(): FormatName | undefined {
    return this.#format?.name;
  }

  get bytes(): Buffer {
    this.#bytes ??= this.#all.subarray(this.#start, this.#end);
    return this.#bytes;
  }

  get text(): string {
    this.#text ??= this.bytes.toString();
    return this.#text;
  }

  get fields(): RecordFields {
    if (this.#fields) return this.#fields;
    const end = trimHole(this.#all, this.#start, this.#end);
    this.#fields = this.#format?.decode(this.#all, this.#start, end) ?? {
      message: spanText(this.#all, this.#start, end),
    };
    return this.#fields;
  }
}
