import type { Format, LineHead, RecordFields } from '../../parse/format.ts';
import { levelRank } from '../../parse/level.ts';
import type { RegexPrefilter } from '../../regex/prefilter.ts';
import type { RecordFilter } from '../../types.ts';
import type { SafeRegex } from './regex.ts';

/** Decides whether a record matches. Cheap conditions are tested first. */
export class RecordMatcher {
  readonly minRank: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly hasTimes: boolean;
  readonly #terms: readonly TextTest[];
  readonly #excluded: readonly TextTest[];
  readonly #columns: ColumnTest | undefined;
  readonly #regex: SafeRegex | undefined;

  /** `regex` is the compiled regex of the filter; if omitted, that condition is not tested. */
  constructor(filter: RecordFilter, regex?: SafeRegex) {
    const { fromMs = -Infinity, toMs = Infinity, terms = [], excluded = [], caseSensitive = false } = filter;
    this.minRank = levelRank(filter.minLevel);
    this.fromMs = fromMs;
    this.toMs = toMs;
    this.hasTimes = fromMs !== -Infinity || toMs !== Infinity;
    this.#terms = terms.map((term) => textTest(term, caseSensitive));
    this.#excluded = excluded.map((term) => textTest(term, caseSensitive));
    this.#columns = columnTest(filter);
    this.#regex = regex;
  }

  /** Whether the head alone decides. */
  get headOnly(): boolean {
    return this.#terms.length + this.#excluded.length === 0 && !this.#columns && !this.#regex;
  }

  /** Whether a record may take long to test. */
  get hasRegex(): boolean {
    return this.#regex !== undefined;
  }

  get prefilter(): RegexPrefilter | undefined {
    return this.#regex?.prefilter;
  }

  matchesHead({ timeMs, rank }: LineHead): boolean {
    if (rank < this.minRank) return false;
    return !this.hasTimes || (timeMs >= this.fromMs && timeMs < this.toMs);
  }

  /** Tests the record `[start, end)`, whose head is known to match. */
  matchesText(bytes: Buffer, start: number, end: number, format: Format): boolean {
    if (this.headOnly) return true;
    const record = bytes.subarray(start, end);
    if (!this.#terms.every((holds) => holds(record)) || this.#excluded.some((holds) => holds(record))) return false;
    if (this.#columns && !this.#columns(format.decode(bytes, start, end))) return false;
    return !this.#regex || this.#regex.test(record.toString());
  }
}

type TextTest = (record: Buffer) => boolean;
type ColumnTest = (fields: RecordFields) => boolean;

/**
 * Both cases of ASCII letters are the same byte pattern in any encoding, so Latin-1 is sufficient for searching them,
 * whatever the bytes are. Other letters require decoding the text.
 */
function textTest(term: string, caseSensitive: boolean): TextTest {
  if (caseSensitive) {
    const bytes = Buffer.from(term);
    return (record) => record.includes(bytes);
  }
  const lower = term.toLowerCase();
  const encoding = isAscii(term) ? 'latin1' : 'utf8';
  return (record) => record.toString(encoding).toLowerCase().includes(lower);
}

export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

function columnTest({ source, component }: RecordFilter): ColumnTest | undefined {
  if (source === undefined && component === undefined) return undefined;
  const tag = component?.toLowerCase();
  return (fields) => {
    if (source !== undefined && !isSource(fields.source, source)) return false;
    return tag === undefined || (fields.tags?.some((candidate) => candidate.toLowerCase() === tag) ?? false);
  };
}

/** `runtime.go` and `runtime.go:172` match `broker/runtime.go:172`, `time.go` does not. */
function isSource(found: string | undefined, wanted: string): boolean {
  if (found === undefined) return false;
  const file = found.replace(/:\d+$/, '');
  return [found, file].some((candidate) => candidate === wanted || candidate.endsWith(`/${wanted}`));
}
