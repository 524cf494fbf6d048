import type { FormatOptions, HeadProgram } from '../format.ts';
import type { ShapedFormat } from '../formats/define-format.ts';
import { createJsonFormat } from '../formats/json-format.ts';
import { readJsonHead } from '../formats/lines/json-head.ts';
import { createHeadProgram, type FoundTime, NO_TIME, START_SLOT } from './head-program.ts';

/**
 * JSON whose heads the kernel reads where lines start with the same bytes up to time and level, but for the clock: there
 * reading a head ends, so that what follows does not matter.
 */
export function createJsonLinesFormat(options: FormatOptions): ShapedFormat {
  let program: HeadProgram | undefined;
  const found: FoundTime = { ...NO_TIME };
  const find = (bytes: Buffer, start: number, lineEnd: number) => {
    found.timeMs = Number.NaN;
    found.rank = 0;
    const isObject = start < lineEnd && bytes[start] === 123;
    const end = isObject ? readJsonHead(bytes, start, lineEnd, options.zone, found) : 0;
    if (end === 0) return undefined;
    found.from = start;
    found.timeAt = start;
    found.timeEnd = end;
    found.timeRank = found.rank;
    return found;
  };
  return {
    ...createJsonFormat(options),
    get program() {
      program ??= createHeadProgram({
        slots: [START_SLOT],
        indented: false,
        letters: undefined,
        mayCrash: false,
        find,
      });
      return program;
    },
  };
}
