import { makeNeedle, type Needle, type ScanKernel } from '../../kernel/scan-kernel.ts';
import type { Format } from '../../parse/format.ts';
import { BYTE_LIST_START } from '../../parse/formats/json-format.ts';
import { isTakenKey } from '../../parse/formats/lines/known-keys.ts';

/**
 * Whether the record `[start, end)` of the kernel's text, which has a head, has the leaf, whose only value is then in
 * `foundValue`; `undefined` if it must be decoded.
 */
export type FindLeaf = (bytes: Buffer, start: number, end: number) => boolean | undefined;

/**
 * Finds a leaf of the JSON of records with one line without parsing it: no strings and no objects are created. Everything
 * is validated on the way, because text that is no JSON is no context. `undefined`: records must be decoded.
 */
export function createFindLeaf(
  path: string,
  { format, kernel }: { format: Pick<Format, 'name'>; kernel: ScanKernel },
): FindLeaf | undefined {
  const isJson = format.name === 'json';
  const pathBytes = Buffer.from(path);
  const { length } = pathBytes;
  if (!isJson && format.name !== 'contract') return undefined;
  if (!isPlain(path) || length > kernel.maxPathBytes || (isJson && isTaken(path))) return undefined;
  const pairs = new ByteHits(kernel, `${path}=`);
  const lists = new ByteHits(kernel, BYTE_LIST_START);
  // Other escapes stand for characters that the path does not have.
  const unicodes = new ByteHits(kernel, '\\u');
  const slashes = new ByteHits(kernel, '\\/');
  return (bytes, start, end) => {
    kernel.setPath(pathBytes);
    const count = isJson ? kernel.jsonPath(start, end, length) : kernel.contextPath(start, end, length);
    if (count < 0 || count > 1 || (count === 1 && kernel.foundValue[2] === 1)) return undefined;
    if (count === 1) return true;
    // The pairs of the message count. One written as a list of bytes, as journalctl does, may contain anything.
    if (pairs.isIn(bytes, start, end) || unicodes.isIn(bytes, start, end) || slashes.isIn(bytes, start, end))
      return undefined;
    return isJson && lists.isIn(bytes, start, end) ? undefined : false;
  };
}

/** Whether no other character than its own stands for it in JSON, but with `\u` and `\/`. */
function isPlain(path: string): boolean {
  return path !== '' && !/["\\\p{Cc}\ufffd]/u.test(path);
}

/** Whether a key that leads to it may be a column of JSON records. */
function isTaken(path: string): boolean {
  const keys = path.split('.').map((_, index, parts) => parts.slice(0, index + 1).join('.'));
  return keys.some(isTakenKey);
}

/** Behind all positions, and small enough to be stored without an object. */
const NOWHERE = 2 ** 30;

/**
 * Whether a text occurs in a range of the kernel's text, for ranges that come in ascending order: each search runs on to
 * the next occurrence, which answers for all ranges before it.
 */
class ByteHits {
  readonly #kernel: ScanKernel;
  readonly #needle: Needle;
  #bytes: Buffer | undefined;
  /** No occurrence starts in `[#from, #next)`. */
  #from = 0;
  #next = 0;

  constructor(kernel: ScanKernel, text: string) {
    this.#kernel = kernel;
    this.#needle = makeNeedle(text, { caseSensitive: true });
  }

  /** Whether it starts and ends in `[start, end)` of the loaded text. */
  isIn(bytes: Buffer, start: number, end: number): boolean {
    // Newest first: what follows was searched before.
    if (bytes === this.#bytes && start < this.#from) {
      this.#kernel.setNeedle(this.#needle);
      return this.#kernel.find(start, end) >= 0;
    }
    if (bytes !== this.#bytes || start > this.#next) {
      this.#bytes = bytes;
      this.#from = start;
      this.#kernel.setNeedle(this.#needle);
      const next = this.#kernel.find(start, bytes.length);
      this.#next = next < 0 ? NOWHERE : next;
    }
    return this.#next + this.#needle.bytes.length <= end;
  }
}
