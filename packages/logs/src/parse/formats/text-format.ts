import type { FormatOptions } from '../format.ts';
import { columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { SPACE, TAB } from './tokens/byte-scan.ts';
import { findLevel } from './tokens/find-level.ts';

/**
 * Text without times: every line is a record, except for indented and empty ones. Takes the options all formats take.
 */
export function createTextFormat(_options: FormatOptions): ShapedFormat {
  return defineFormat({
    name: 'text',
    timed: false,
    readStart(bytes, start, end, found) {
      if (start >= end || bytes[start] === SPACE || bytes[start] === TAB) return false;
      found.rank = findLevel(bytes, start, end, { maxTokens: 1, mayBeProse: true });
      return true;
    },
    readColumns: (body) => columns(body, {}),
  });
}
