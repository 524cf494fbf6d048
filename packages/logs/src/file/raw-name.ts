import { sep } from 'node:path';
import { entryPath } from './find-entry.ts';

/*
 * Directory entry names as raw bytes, one character per byte (latin1): a name need not be UTF-8, and a `Buffer` for
 * each of 100,000 takes ten times the memory of a string.
 */

const BEYOND_ASCII = /[^\0-\x7f]/;

/** The name as shown: U+FFFD for bytes that are not UTF-8. */
export function shownName(raw: string): string {
  return BEYOND_ASCII.test(raw) ? Buffer.from(raw, 'latin1').toString() : raw;
}

export function rawPath(dir: string, raw: string): string | Buffer {
  return BEYOND_ASCII.test(raw) ? entryPath(dir, Buffer.from(raw, 'latin1')) : dir + sep + raw;
}
