import { parseJsonObject } from '../exact-context.ts';
import type { FormatOptions } from '../format.ts';
import { headFields, type ShapedFormat, splitRecord, trimLineEnd } from '../formats/define-format.ts';
import { createPathReader, type JsonPaths } from './json-paths.ts';

/**
 * Lines of JSON whose time or level is where no other logger has them. `plain` reads those that it can: what it does not
 * find is where the paths say, and lines that are cut are read by it alone.
 */
export function createJsonPathFormat(
  spec: string,
  plain: ShapedFormat,
  paths: JsonPaths,
  options: FormatOptions,
): ShapedFormat {
  const reader = createPathReader(paths, options);
  const found = { timeMs: Number.NaN, rank: 0 };
  const readHead = (bytes: Buffer, start: number, lineEnd: number): boolean => {
    if (!plain.readHead(bytes, start, lineEnd, found)) return false;
    const object = parseJsonObject(bytes.toString('utf8', start, lineEnd));
    if (!object) return true;
    if (paths.time) {
      const timeMs = reader.timeMs(object);
      if (!Number.isNaN(timeMs)) found.timeMs = timeMs;
    }
    if (paths.level) found.rank = reader.rank(object) || found.rank;
    return true;
  };
  return {
    name: 'json-keys',
    spec,
    timed: true,
    readHead(bytes, start, end, head) {
      if (!readHead(bytes, start, trimLineEnd(bytes, start, end))) return false;
      head.timeMs = found.timeMs;
      head.rank = found.rank;
      return true;
    },
    decode(bytes, start, end) {
      const { lineEnd } = splitRecord(bytes, start, end);
      const { timeMs: _time, level: _level, ...columns } = plain.decode(bytes, start, end);
      return readHead(bytes, start, lineEnd) ? { ...headFields(found), ...columns } : columns;
    },
    isTypical: plain.isTypical,
  };
}
