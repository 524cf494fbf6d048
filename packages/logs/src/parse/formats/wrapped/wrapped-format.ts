import {
  type FormatOptions,
  type LineHead,
  MAX_HEAD_BYTES,
  type RecordFields,
  type WrapperName,
} from '../../format.ts';
import type { Zone } from '../../zone.ts';
import { headFields, type ShapedFormat, trimLineEnd } from '../define-format.ts';
import { sampleLineEnd } from '../sample-lines.ts';
import { skipSpaces } from '../tokens/byte-scan.ts';
import {
  createAnsiWrapper,
  createComposeWrapper,
  createCriWrapper,
  createDockerWrapper,
  createIndentedWrapper,
  type InnerLine,
  type LineWrapper,
} from './line-wrappers.ts';

/** Offsets of zones are multiples of it. */
const QUARTER_HOUR_MS = 15 * 60_000;

/** No two zones differ by more. */
const MAX_OFFSET_MS = 26 * 3_600_000;

/** A line is usually written within this time: then the rest of a difference is that of the zones. */
const WRITTEN_WITHIN_MS = 60_000;

/** The offset of a zone in which few logs are written: 12:45 h. */
const ELSEWHERE_MS = 45_900_000;
export const ELSEWHERE: Zone = {
  id: 'elsewhere',
  name: 'elsewhere',
  toEpochMs: (localMs) => localMs - ELSEWHERE_MS,
  offsetMsAt: () => ELSEWHERE_MS,
};

const CREATORS: Readonly<Record<WrapperName, (zone: Zone) => LineWrapper>> = {
  docker: createDockerWrapper,
  cri: createCriWrapper,
  ansi: createAnsiWrapper,
  compose: createComposeWrapper,
  indented: createIndentedWrapper,
};

/** Behind every line that may start a record, whoever scans a text has loaded at least this much. */
const MAX_BELOW_BYTES = 4096;

export const WRAPPER_NAMES = Object.keys(CREATORS) as readonly WrapperName[];

export function createWrapper(name: WrapperName, { zone }: Pick<FormatOptions, 'zone'>): LineWrapper {
  return CREATORS[name](zone);
}

interface WrappedOptions {
  /** Whether the times of the inner lines lack a year or a date. */
  isPartial: boolean;
  /** The inner format in another zone: what both read as the same time has its zone in the line. */
  elsewhere?: ShapedFormat | undefined;
}

/**
 * Parses each line by the format of the text inside it. An inner line that continues a record does so here, too; parts
 * of a long line are put together again.
 */
export function createWrappedFormat(
  wrapper: LineWrapper,
  inner: ShapedFormat,
  { isPartial, elsewhere }: WrappedOptions,
): ShapedFormat {
  const line: InnerLine = { bytes: Buffer.alloc(0), start: 0, end: 0 };
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };

  /**
   * The time of the inner line. A container often has another zone than the node, and a time without a date says
   * little: what is missing is taken from the time of the wrapper.
   */
  const completeTime = (timeMs: number, outerMs: number): number => {
    const lateMs = outerMs - timeMs;
    if (!(Math.abs(lateMs) > QUARTER_HOUR_MS / 2)) return Number.isNaN(timeMs) ? outerMs : timeMs;
    const hasZone = elsewhere?.readHead(line.bytes, line.start, line.end, head) && head.timeMs === timeMs;
    if (hasZone) return timeMs;
    const offsetMs = Math.round(lateMs / QUARTER_HOUR_MS) * QUARTER_HOUR_MS;
    const isWhole = Math.abs(lateMs - offsetMs) <= WRITTEN_WITHIN_MS;
    // A wrong day or year is a whole number of days.
    if (isPartial) return isWhole ? timeMs + offsetMs : outerMs;
    return isWhole && Math.abs(offsetMs) <= MAX_OFFSET_MS ? timeMs + offsetMs : timeMs;
  };
  /** The level on a line below, which must be unwrapped, too. */
  const rankBelow = (bytes: Buffer, start: number): number => {
    const text = unwrapText(wrapper, bytes.subarray(start, start + MAX_BELOW_BYTES));
    return inner.readHead(text, 0, lineEndAfter(text, 0, text.length), head) ? head.rank : 0;
  };
  const readHead = (bytes: Buffer, start: number, end: number, target: LineHead): boolean => {
    const lineEnd = Math.min(trimLineEnd(bytes, start, end), start + MAX_HEAD_BYTES);
    if (!wrapper.readInner(bytes, start, lineEnd, line)) return false;
    if (!inner.readHead(line.bytes, line.start, line.end, target)) return false;
    if (inner.readsBelow) target.rank = rankBelow(bytes, start);
    if (wrapper.timed) target.timeMs = completeTime(target.timeMs, wrapper.readTime(bytes, start, lineEnd));
    return true;
  };

  return {
    name: `${wrapper.name}+${inner.name}`,
    spec: `${wrapper.name}+${inner.spec}`,
    timed: inner.timed || wrapper.timed,
    ...(inner.readsBelow && { readsBelow: true }),
    readHead,
    decode(bytes, start, end) {
      const firstEnd = lineEndAfter(bytes, start, end);
      const first: LineHead = { timeMs: Number.NaN, rank: 0 };
      const known = readHead(bytes, start, firstEnd, first) ? headFields(first) : {};
      const text = unwrapText(wrapper, bytes.subarray(start, end));
      const { timeMs: _timeMs, level: _level, ...fields } = inner.decode(text, 0, text.length);
      return { ...known, ...fields, ...addContext(fields, wrapper.readContext(bytes, start, firstEnd)) };
    },
    isTypical: (bytes, start, end) => wrapper.isTypical(bytes, start, trimLineEnd(bytes, start, end)),
  };
}

/** The text inside the lines; lines that are not wrapped stay as they are. */
export function unwrapText(wrapper: LineWrapper, bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = lineEndAfter(bytes, start, bytes.length);
    parts.push(wrapper.unwrap(bytes, start, end) ?? bytes.subarray(start, end));
    start = end;
  }
  return Buffer.concat(parts);
}

function lineEndAfter(bytes: Buffer, start: number, end: number): number {
  const newline = bytes.subarray(start, end).indexOf(10);
  return newline < 0 ? end : start + newline + 1;
}

/** Adds what the record does not have itself. */
function addContext(
  { context = {}, contextText }: Pick<RecordFields, 'context' | 'contextText'>,
  outer: readonly (readonly [string, unknown])[],
): Pick<RecordFields, 'context' | 'contextText'> {
  const added = outer.filter(([key]) => !Object.hasOwn(context, key));
  if (added.length === 0) return {};
  const all = { ...context, ...Object.fromEntries(added) };
  if (contextText === undefined) return { context: all };
  const members = added.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  const isEmpty = Object.keys(context).length === 0;
  return {
    context: all,
    contextText: `${contextText.trimEnd().slice(0, -1)}${isEmpty ? '' : ','}${members.join(',')}}`,
  };
}

/** The text inside the lines of a sample; `undefined` if too few are wrapped. */
export function unwrapSample(wrapper: LineWrapper, bytes: Buffer): Buffer | undefined {
  let lines = 0;
  let wrapped = 0;
  for (let start = 0, end = sampleLineEnd(bytes, 0); end >= 0; start = end, end = sampleLineEnd(bytes, start)) {
    const lineEnd = trimLineEnd(bytes, start, end);
    if (skipSpaces(bytes, start, lineEnd) === lineEnd) continue;
    if (lines >= wrapper.examinedLines) break;
    lines++;
    if (wrapper.isTypical(bytes, start, lineEnd)) wrapped++;
    else if (wrapper.minShare === 1) return undefined;
  }
  if (wrapped < wrapper.minLines || wrapped < lines * wrapper.minShare) return undefined;
  return unwrapText(wrapper, bytes.subarray(0, bytes.lastIndexOf(10) + 1 || bytes.length));
}
