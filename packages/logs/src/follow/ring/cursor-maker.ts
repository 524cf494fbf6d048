import { CHECK_BYTES, type FileMark, fnv1a, markEncoder } from '../../cursor/cursor.ts';

/** Makes the cursors of one file's records. */
export class CursorMaker {
  readonly #encode: ReturnType<typeof markEncoder>;

  constructor(mark: FileMark, file: string) {
    this.#encode = markEncoder({ ...mark, file });
  }

  /** Of the record with these bytes; without any, of the place itself. */
  at(offset: number, bytes: Buffer): string {
    const checkBytes = Math.min(CHECK_BYTES, bytes.length);
    return this.#encode({ offset, check: fnv1a(bytes, 0, checkBytes), checkBytes });
  }
}
