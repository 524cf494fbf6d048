import type { Format, FormatName, FormatOptions, LineHead, WrapperName } from './format.ts';
import { createCapnslogFormat } from './formats/capnslog-format.ts';
import { createContractFormat } from './formats/contract-format.ts';
import type { ShapedFormat } from './formats/define-format.ts';
import { createGlogFormat } from './formats/glog-format.ts';
import { createIsoFormat } from './formats/iso-format.ts';
import { createJsonFormat } from './formats/json-format.ts';
import {
  FALLBACK_LAYOUTS,
  type FallbackName,
  LAYOUT_DEFINITIONS,
  type LayoutName,
} from './formats/layout/definitions.ts';
import { compileLayoutFormat, hasPartialTime, type LayoutDefinition } from './formats/layout/layout-format.ts';
import { createLindbAccessFormat, createLindbSlowSqlFormat } from './formats/lindb-formats.ts';
import { createLog4jFormat } from './formats/log4j-format.ts';
import { createNginxAccessFormat, createNginxErrorFormat } from './formats/nginx-formats.ts';
import { createOtlpFormat } from './formats/otlp-format.ts';
import { createPythonBasicFormat } from './formats/python-basic-format.ts';
import {
  completeLines,
  groupLines,
  isUntimedJson,
  type Line,
  type LineGroup,
  type SampleLine,
} from './formats/sample-lines.ts';
import { createSyslog5424Format, createSyslogFormat } from './formats/syslog-formats.ts';
import { createTextFormat } from './formats/text-format.ts';
import { createTidbFormat } from './formats/tidb-format.ts';
import { startsWith } from './formats/tokens/byte-scan.ts';
import { createW3cFormat, w3cColumn, withStatusColumn } from './formats/w3c-format.ts';
import type { LineWrapper } from './formats/wrapped/line-wrapper.ts';
import { unwrapSample } from './formats/wrapped/unwrap-sample.ts';
import { createWrappedFormat, createWrapper, ELSEWHERE, WRAPPER_NAMES } from './formats/wrapped/wrapped-format.ts';
import type { BuiltInFormatName } from './user-format.ts';
import type { Zone } from './zone.ts';

/** More of a file does not improve detection. */
const MAX_SAMPLE_BYTES = 64 * 1024;

/** Lines that usually decide: trying all formats on all lines of a sample took 40 ms before the code was compiled. */
const FIRST_LINES = 32;
const ENOUGH_TIMED = 12;

/** Lines with digits that decide if those do not: trying all formats on hundreds of lines took 15 ms. */
const MANY_LINES = 48;

/** Lines that differ in more than digits: more of them are not tried. */
const MAX_GROUPS = 96;

/** A built-in format is overruled by one from the settings unless it finds times in more than this many times as many lines. */
const OVERRULED_FACTOR = 2;

const LAYOUT_FORMATS = LAYOUT_DEFINITIONS.map(lazyLayout);
const FALLBACKS = FALLBACK_LAYOUTS.map(lazyLayout);

function creatorsByName<Name extends string>(formats: readonly { name: Name; create: FormatCreator }[]) {
  return Object.fromEntries(formats.map(({ name, create }) => [name, create])) as Record<Name, FormatCreator>;
}

/** Every format, specific before general: of two that match a file equally well the first is chosen. */
const CREATORS: Record<BuiltInFormatName, FormatCreator> = {
  'lindb-access': createLindbAccessFormat,
  'lindb-slow-sql': createLindbSlowSqlFormat,
  contract: createContractFormat,
  otlp: createOtlpFormat,
  json: createJsonFormat,
  tidb: createTidbFormat,
  glog: createGlogFormat,
  capnslog: createCapnslogFormat,
  ...creatorsByName<Exclude<LayoutName, FallbackName>>(LAYOUT_FORMATS),
  'nginx-access': createNginxAccessFormat,
  'nginx-error': createNginxErrorFormat,
  'syslog-5424': createSyslog5424Format,
  log4j: createLog4jFormat,
  syslog: createSyslogFormat,
  iso: createIsoFormat,
  ...creatorsByName(FALLBACKS),
  'python-basic': createPythonBasicFormat,
  text: createTextFormat,
};

/** Formats in which times may lack a year or a date: when the file was written completes them. */
const PARTIAL_TIME_FORMATS: ReadonlySet<FormatName> = new Set<FormatName>([
  'glog',
  'syslog',
  ...[...LAYOUT_FORMATS, ...FALLBACKS].filter(({ isPartial }) => isPartial).map(({ name }) => name),
]);

export const FORMAT_NAMES: readonly BuiltInFormatName[] = Object.keys(CREATORS) as BuiltInFormatName[];

const BUILT_IN: readonly CandidateFormat[] = FORMAT_NAMES.map((name) => ({
  name,
  isPartial: PARTIAL_TIME_FORMATS.has(name),
  create: CREATORS[name],
}));

/** Whether times may lack a year or a date, so that they depend on when the file was written. */
export function hasPartialTimes(name: FormatName, added: readonly CandidateFormat[] = []): boolean {
  const { plain } = splitName(name);
  return added.find((format) => format.name === plain)?.isPartial ?? PARTIAL_TIME_FORMATS.has(plain);
}

/** Creates a format by name, for example in another thread. */
export function createFormat(
  name: FormatName,
  options: FormatOptions,
  added: readonly CandidateFormat[] = [],
): ShapedFormat {
  const { wrappers, plain } = splitName(name);
  const { create } = added.find((format) => format.name === plain) ?? { create: builtInCreator(plain) };
  return wrappers.reduceRight((inner, wrapper) => wrap(wrapper, inner, { ...options, added }), create(options));
}

function builtInCreator(name: FormatName): FormatCreator {
  const column = w3cColumn(name);
  return column === undefined
    ? CREATORS[name as BuiltInFormatName]
    : (options) => createW3cFormat(CREATORS.w3c(options), column);
}

/** The parts of a name like `docker+ansi+iso`, the outermost first. */
export function splitName(name: FormatName): { wrappers: WrapperName[]; plain: FormatName } {
  const parts = name.split('+');
  const plain = parts.pop() ?? name;
  return { wrappers: parts as WrapperName[], plain };
}

function wrap(
  name: WrapperName,
  inner: ShapedFormat,
  { added, ...options }: FormatOptions & { added: readonly CandidateFormat[] },
): ShapedFormat {
  const wrapper = createWrapper(name, options);
  return createWrappedFormat(wrapper, inner, {
    isPartial: hasPartialTimes(inner.name, added),
    elsewhere: wrapper.timed ? createFormat(inner.name, { ...options, zone: ELSEWHERE }, added) : undefined,
  });
}

/**
 * The format in which most lines of a sample, the start of a file, start records with times. Leading lines that belong
 * to no record do not matter. If no line has a time, it is JSON or plain text.
 */
export function detectFormat(sample: Buffer, { zone, writtenMs }: FormatOptions): Format {
  const detector = DETECTORS.get(zone) ?? new FormatDetector(zone);
  DETECTORS.set(zone, detector);
  return detector.detect(sample, writtenMs);
}

/** Creating the candidates takes longer than matching them on a file. */
const DETECTORS = new WeakMap<Zone, FormatDetector>();

/**
 * Detects the formats of many files: the candidates are created once, which takes longer than matching them on a short
 * file.
 */
export class FormatDetector {
  readonly #zone: Zone;
  readonly #formats: LazyFormats;
  readonly #added: LazyFormats;
  readonly #wrappers = new Map<WrapperName, LineWrapper>();

  constructor(zone: Zone, added: readonly CandidateFormat[] = []) {
    this.#zone = zone;
    this.#formats = new LazyFormats(zone, BUILT_IN);
    this.#added = new LazyFormats(zone, added);
  }

  detect(sample: Buffer, writtenMs: number): Format {
    this.#formats.setWritten(writtenMs);
    this.#added.setWritten(writtenMs);
    return this.#detectIn(sample, writtenMs, WRAPPER_NAMES);
  }

  /** Each wrapper may be within those before it, and only once. */
  #detectIn(sample: Buffer, writtenMs: number, wrappers: readonly WrapperName[]): ShapedFormat {
    const bytes = sample.length > MAX_SAMPLE_BYTES ? sample.subarray(0, MAX_SAMPLE_BYTES) : sample;
    for (const [index, name] of wrappers.entries()) {
      const text = unwrapSample(this.#wrapper(name), bytes);
      if (!text) continue;
      const inner = this.#detectIn(text, writtenMs, wrappers.slice(index + 1));
      return wrap(name, inner, { zone: this.#zone, writtenMs, added: this.#added.candidates });
    }
    return this.#detectPlain(sample, writtenMs);
  }

  #wrapper(name: WrapperName): LineWrapper {
    const wrapper = this.#wrappers.get(name) ?? createWrapper(name, { zone: this.#zone });
    this.#wrappers.set(name, wrapper);
    return wrapper;
  }

  #detectPlain(sample: Buffer, writtenMs: number): ShapedFormat {
    const bytes = sample.subarray(0, MAX_SAMPLE_BYTES);
    const some = completeLines(bytes, FIRST_LINES + 1);
    const first = this.#pick(sample, some.slice(0, FIRST_LINES));
    // With a long preamble, or few lines that start records, the whole sample decides.
    const isEnough = some.length <= FIRST_LINES || (first && first.timed >= ENOUGH_TIMED);
    const lines = isEnough ? some : completeLines(bytes, Number.POSITIVE_INFINITY);
    const best = isEnough ? first : this.#pickFromAll(sample, lines);
    if (best?.format.name === 'w3c') return withStatusColumn(best.format, bytes, lines);
    return best?.format ?? this.#untimed(sample, lines, writtenMs);
  }

  #untimed(sample: Buffer, lines: readonly SampleLine[], writtenMs: number): ShapedFormat {
    const options = { zone: this.#zone, writtenMs };
    if (isUntimedJson(sample, lines)) return CREATORS.json(options);
    const python = CREATORS['python-basic'](options);
    const [first] = lines;
    // The first line alone decides, so that the format stays the same while the file grows.
    return first && python.isTypical(sample, first.start, first.end) ? python : CREATORS.text(options);
  }

  /** Lines that may have times decide if there are many of them; else all lines. */
  #pickFromAll(sample: Buffer, lines: readonly SampleLine[]): Candidate | undefined {
    let count = 0;
    const end = lines.findIndex(({ mayHaveUsualTime: may }) => may && ++count === MANY_LINES) + 1;
    const best = end > 0 ? this.#pick(sample, lines.slice(0, end)) : undefined;
    return best ?? this.#pick(sample, lines);
  }

  #pick(sample: Buffer, lines: readonly SampleLine[]): Candidate | undefined {
    const usual = lines.filter(({ mayHaveUsualTime: may }) => may);
    const builtIn = pickBest(this.#formats, sample, { lines, groups: groupLines(sample, usual).slice(0, MAX_GROUPS) });
    if (this.#added.candidates.length === 0) return builtIn;
    const likely = lines.filter(({ mayHaveTime: may }) => may);
    const added = pickBest(this.#added, sample, { lines, groups: groupLines(sample, likely).slice(0, MAX_GROUPS) });
    return added && added.timed * OVERRULED_FACTOR >= (builtIn?.timed ?? 0) ? added : builtIn;
  }
}

/** A more specific format wins over a general one that finds times in slightly more lines. */
const NEARLY_AS_MANY = 0.9;

/** Of the lines in which a format finds times, at least this share must be typical of it. */
const TYPICAL_SHARE = 0.5;

/** A fallback is used if it finds times in more than this share of the lines. */
const FALLBACK_SHARE = 0.5;

/** Other formats are preferred if they find times in at least this share of those: DETAIL lines are not records of their own. */
const PREFERRED_SHARE = 0.2;

const FALLBACK_NAMES: ReadonlySet<string> = new Set(FALLBACK_LAYOUTS.map(({ name }) => name));

interface Candidate {
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
function pickBest(formats: Iterable<ShapedFormat>, sample: Buffer, sampled: Sampled): Candidate | undefined {
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

type FormatCreator = (options: FormatOptions) => ShapedFormat;

/** A format that is tried on files. */
export interface CandidateFormat {
  name: FormatName;
  /** Its times may lack a year or a date. */
  isPartial: boolean;
  create: FormatCreator;
}

/** Compiled when it is first needed: most files are recognised before most formats are tried. */
function lazyLayout<Name extends string>(
  definition: LayoutDefinition & { name: Name },
): CandidateFormat & { name: Name } {
  let compiled: ReturnType<typeof compileLayoutFormat> | undefined;
  const create: FormatCreator = (options) => {
    compiled ??= compileLayoutFormat(definition);
    return compiled.create(options);
  };
  return { name: definition.name, isPartial: hasPartialTime(definition), create };
}

/** Every format in its order, created when it is first tried: most files are recognised by one of the first. */
class LazyFormats implements Iterable<ShapedFormat> {
  readonly #zone: Zone;
  readonly candidates: readonly CandidateFormat[];
  readonly #created: (ShapedFormat | undefined)[] = [];
  /** Positions of those created that depend on when the file was written. */
  #partial: number[] = [];
  #writtenMs = Number.NaN;

  constructor(zone: Zone, candidates: readonly CandidateFormat[]) {
    this.#zone = zone;
    this.candidates = candidates;
  }

  *[Symbol.iterator](): Iterator<ShapedFormat> {
    for (const [index, { isPartial, create }] of this.candidates.entries()) {
      let format = this.#created[index];
      if (!format) {
        format = create({ zone: this.#zone, writtenMs: this.#writtenMs });
        this.#created[index] = format;
        if (isPartial) this.#partial.push(index);
      }
      yield format;
    }
  }

  /** Only times without a year or date depend on it. */
  setWritten(writtenMs: number): void {
    if (writtenMs === this.#writtenMs) return;
    this.#writtenMs = writtenMs;
    for (const index of this.#partial) this.#created[index] = undefined;
    this.#partial = [];
  }
}
