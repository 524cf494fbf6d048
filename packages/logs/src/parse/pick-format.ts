import type { LineHead } from './format.ts';
import type { ShapedFormat } from './formats/define-format.ts';
import { FALLBACK_LAYOUTS } from './formats/layout/definitions.ts';
import { startsWith } from './formats/tokens/byte-scan.ts';
import type { Line, LineGroup } from './sample-lines.ts';

/** A more specific format wins over a general one that finds times in slightly more lines. */
const NEARLY_AS_MANY = 0.9;

/** Of the lines in which a format finds times, at least this share must be typical of it. */
const TYPICAL_SHARE = 0.5;

/** A fallback is used if it finds times in more than this share of the lines. */
const FALLBACK_SHARE = 0.5;

/** Other formats are preferred if they find times in at least this share of those: DETAIL lines are not records of their own. */
const PREFERRED_SHARE = 0.2;

const FALLBACK_NAMES: ReadonlySet<string> = new Set(FALLBACK_LAYOUTS.map(({ name }) => name));

export interface Candidate {
  format: ShapedFormat;
  /** Lines that start a record with a time. */
  timed: number;
  /** Whether enough of these are typical of this format; computed only where it decides, because it creates strings. */
  isTypical: boolean | undefined;
}

/** All lines, and groups of those that may have times. */
interface Sampled {
  lines: readonly Line[];
  groups: readonly LineGroup[];
}

/** The first format that finds times in nearly as many lines as any other, in typical ones of its own. */
export function pickBest(formats: Iterable<ShapedFormat>, sample: Buffer, sampled: Sampled): Candidate | undefined {
  const { lines, groups } = sampled;
  const isTypical = (candidate: Candidate) => {
    candidate.isTypical ??= hasTypicalLines(candidate, sample, sampled);
    return candidate.isTypical;
  };
  const mostPossible = groups.reduce((sum, { count }) => sum + count, 0);
  if (mostPossible === 0) return undefined;
  const candidates: Candidate[] = [];
  let most = 0;
  for (const format of formats) {
    if (!format.timed || FALLBACK_NAMES.has(format.name)) continue;
    const timed = countTimed(format, sample, groups);
    if (timed === 0) continue;
    const candidate: Candidate = { format, timed, isTypical: undefined };
    candidates.push(candidate);
    if (timed <= most || !isTypical(candidate)) continue;
    most = timed;
    // No later format can find more, and of equal ones the first is chosen.
    if (most === mostPossible) break;
  }
  const fallback = most < lines.length * PREFERRED_SHARE ? pickFallback(formats, sample, sampled, most) : undefined;
  if (fallback && isTypical(fallback)) return fallback;
  return candidates.find((candidate) => candidate.timed >= most * NEARLY_AS_MANY && isTypical(candidate));
}

/** The fallback that finds times in enough lines, where other formats find them in `most` lines. */
function pickFallback(
  formats: Iterable<ShapedFormat>,
  sample: Buffer,
  { lines, groups }: Sampled,
  most: number,
): Candidate | undefined {
  for (const format of formats) {
    if (!FALLBACK_NAMES.has(format.name)) continue;
    const timed = countTimed(format, sample, groups);
    if (timed > lines.length * FALLBACK_SHARE && most < timed * PREFERRED_SHARE)
      return { format, timed, isTypical: undefined };
  }
  return undefined;
}

function countTimed(format: ShapedFormat, bytes: Buffer, groups: readonly LineGroup[]): number {
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  let timed = 0;
  for (const group of groups) if (isTimed(format, bytes, group, head)) timed += group.count;
  return timed;
}

function isTimed(format: ShapedFormat, bytes: Buffer, { start, end }: LineGroup, head: LineHead): boolean {
  if (format.firstBytes?.[bytes[start] ?? 0] === 0) return false;
  if (format.hasTime) return format.hasTime(bytes, start, end);
  return format.readHead(bytes, start, end, head) && !Number.isNaN(head.timeMs);
}

function hasTypicalLines({ format, timed }: Candidate, bytes: Buffer, { lines, groups }: Sampled): boolean {
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  let typical = 0;
  const { header } = format;
  if (header && lines.some(({ start, end }) => startsWith(bytes, start, end, header))) return true;
  for (const group of groups) {
    if (isTimed(format, bytes, group, head) && format.isTypical(bytes, group.start, group.end)) typical += group.count;
    if (typical >= timed * TYPICAL_SHARE) return true;
  }
  return false;
}
