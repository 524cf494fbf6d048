import { markEnds } from '../../cursor/cursor.ts';
import type { LineTexts, RenderKernel } from '../../kernel/render-kernel.ts';
import type { ScanKernel } from '../../kernel/scan-kernel.ts';
import type { Format, LineHead } from '../../parse/format.ts';
import { ALL_FIELDS } from '../../query/record-fields.ts';
import { FoundBuffer } from './found-buffer.ts';
import type { FoundCollector, FoundLines, RecordsJob } from './found-lines.ts';
import { RecordFormatter, type RecordSpan, SHOWN_BYTES, type ShownAs } from './record-formatter.ts';

const NEWLINE = 10;

/** Bytes of UTF-8 that a UTF-16 unit may become. */
const BYTES_PER_UNIT = 3;

/**
 * Collects records as lines of JSON. The kernel renders those of common formats straight from the text, many at a time:
 * 30 times as fast as decoding and serializing them, which is left for what is unusual, and which the result equals byte
 * for byte.
 */
export class RecordLines implements FoundCollector {
  readonly #formatter: RecordFormatter;
  readonly #kernel: RenderKernel;
  /** The memory that the kernel renders from. */
  readonly #memory: Buffer;
  /** Known to be in it. */
  #checked: Buffer | undefined;
  readonly #texts: LineTexts | undefined;
  readonly #isTimed: boolean;
  readonly #found: FoundBuffer;
  /** Records that were found but not rendered yet, and the offset of the text they are in. */
  #waiting = 0;
  #base = 0;

  constructor(job: RecordsJob, { kernel, format }: { kernel: ScanKernel; format: Format }) {
    this.#found = new FoundBuffer(job.room?.[0]);
    this.#formatter = new RecordFormatter(job, format);
    this.#kernel = kernel.lineRenderer;
    this.#memory = kernel.text;
    this.#isTimed = format.name === 'contract';
    const texts = lineTexts(job, this.#formatter, format);
    if (texts && this.#kernel.canRender(texts)) this.#texts = texts;
  }

  get count(): number {
    return this.#found.count + this.#waiting;
  }

  /** Without those that wait, which are few. */
  get resultBytes(): number {
    return this.#found.bytes;
  }

  cursorFor(record: RecordSpan): string {
    return this.#formatter.cursorFor(record);
  }

  add(record: RecordSpan, shownAs: ShownAs & LineHead): void {
    const { bytes, start, end, offset } = record;
    const kernel = this.#kernel;
    const base = offset - start;
    if (this.#waiting > 0 && (this.#waiting === kernel.mostRecords || base !== this.#base)) this.endBlock();
    if (!this.#texts || !this.#isUsual(bytes, shownAs)) {
      this.endBlock();
      this.#format(record, shownAs);
      return;
    }
    this.#base = base;
    const index = this.#waiting++;
    kernel.starts[index] = start;
    kernel.ends[index] = end;
    kernel.times[index] = shownAs.timeMs;
    kernel.ranks[index] = shownAs.rank;
  }

  /** Renders what waits, before the memory is reused. */
  endBlock(): void {
    const count = this.#waiting;
    this.#waiting = 0;
    for (let from = 0; from < count; ) {
      const reached = this.#render(from, count);
      if (reached === from) this.#format(this.#recordAt(from), USUAL);
      from = Math.max(reached, from + 1);
    }
  }

  found(): FoundLines {
    this.endBlock();
    return this.#found.found({ withLengths: false });
  }

  #isUsual(bytes: Buffer, { continued, headless, timeMs }: ShownAs & LineHead): boolean {
    if (continued || headless || (this.#isTimed && Number.isNaN(timeMs))) return false;
    if (bytes === this.#checked) return true;
    const isInMemory = bytes.buffer === this.#memory.buffer && bytes.byteOffset === this.#memory.byteOffset;
    if (isInMemory) this.#checked = bytes;
    return isInMemory;
  }

  /** Has the kernel render some; returns the first one that it did not. */
  #render(from: number, to: number): number {
    if (!this.#texts) return from;
    const { starts, times, output, renderedEnds } = this.#kernel;
    const reached = this.#kernel.render(this.#texts, from, to, this.#base);
    const found = this.#found;
    const before = found.bytes;
    found.append(output, 0, reached > from ? (renderedEnds[reached - from - 1] ?? 0) : 0);
    found.reserveRecords(reached - from);
    for (let index = from; index < reached; index++) {
      found.ends[found.count] = before + (renderedEnds[index - from] ?? 0);
      found.offsets[found.count] = this.#base + (starts[index] ?? 0);
      found.times[found.count++] = times[index] ?? Number.NaN;
    }
    return reached;
  }

  #recordAt(index: number): RecordSpan {
    const [start = 0, end = 0] = [this.#kernel.starts[index], this.#kernel.ends[index]];
    return { bytes: this.#memory, start, end, offset: this.#base + start };
  }

  #format(record: RecordSpan, shownAs: ShownAs): void {
    const { line, offset, timeMs } = this.#formatter.format(record, shownAs);
    const found = this.#found;
    found.reserve(line.length * BYTES_PER_UNIT + 1);
    found.bytes += found.text.write(line, found.bytes);
    found.text[found.bytes++] = NEWLINE;
    found.reserveRecords(1);
    found.ends[found.count] = found.bytes;
    found.offsets[found.count] = offset;
    found.times[found.count++] = timeMs;
  }
}

const USUAL: ShownAs = { continued: false, headless: false };

/** What all lines of a job have in common; `undefined` if they have more than the kernel renders. */
function lineTexts(job: RecordsJob, { lineStart }: RecordFormatter, format: Format): LineTexts | undefined {
  const { file, mark, raw, onlyRaw = false, fields = [], restFrom = 0, shownBytes = SHOWN_BYTES } = job;
  const allFields = fields.includes(ALL_FIELDS);
  if (restFrom > 0 || (fields.length > 0 && !allFields)) return undefined;
  const { head, tail } = markEnds({ ...mark, file: file.name });
  return {
    start: `${lineStart}"offset":`,
    cursorHead: `,"cursor":"${head}`,
    cursorTail: `${tail}",`,
    mostBytes: shownBytes,
    format: format.name,
    allFields,
    raw,
    onlyRaw: onlyRaw && raw && !allFields,
  };
}
