import { COLUMN_SET_NAMES, type ColumnSetName, columnSet, pickColumns } from './columns/column-sets.ts';
import {
  type Format,
  type FormatName,
  type FormatOptions,
  LEARNED_MARK,
  type LineHead,
  type WrapperName,
} from './format.ts';
import {
  createLindbAccessFormat,
  createLindbSlowSqlFormat,
  createPythonBasicFormat,
  createW3cFormat,
  w3cColumn,
  withStatusColumn,
} from './formats/coded-formats.ts';
import { type ShapedFormat, trimLineEnd } from './formats/define-format.ts';
import { compileLayoutFormat, type LayoutDefinition } from './formats/layout/layout-format.ts';
import { OWN_LAYOUTS, type OwnLayoutName } from './formats/layout/own-layouts.ts';
import { createOtlpFormat } from './formats/otlp-format.ts';
import { completeLines, isObject, type Line, MAX_SAMPLE_BYTES, type SampleLine } from './formats/sample-lines.ts';
import { startsWith } from './formats/tokens/byte-scan.ts';
import type { LineWrapper } from './formats/wrapped/line-wrappers.ts';
import {
  createWrappedFormat,
  createWrapper,
  ELSEWHERE,
  unwrapSample,
  WRAPPER_NAMES,
} from './formats/wrapped/wrapped-format.ts';
import { BLOCK_NAMES, type BlockName, createBlockFormat, detectBlocks, isBlockName } from './heads/block-format.ts';
import { createContractFormat } from './heads/contract-format.ts';
import { createHeadFormat, type HeadFormat, hasPartialSlots, type TimedLine } from './heads/head-format.ts';
import { createJsonLinesFormat } from './heads/json-lines-format.ts';
import { createJsonPathFormat, type JsonPaths, learnJsonPaths } from './heads/json-paths.ts';
import { type LearnedHead, learnHead, NOTHING_LEARNED } from './heads/learn-head.ts';
import type { UserFormat } from './user-format.ts';
import type { Zone } from './zone.ts';

/** A built-in format is overruled by one from the settings unless it finds times in more than this many times as many lines. */
const OVERRULED_FACTOR = 2;

const OWN_LAYOUT_CREATORS = Object.fromEntries(
  OWN_LAYOUTS.map((definition) => [definition.name, lazyLayout(definition)]),
) as Record<OwnLayoutName, FormatCreator>;

/** Formats that are read by code of their own, heads included: specific before general. For all others the heads are learned. */
const CREATORS = {
  'lindb-access': createLindbAccessFormat,
  'lindb-slow-sql': createLindbSlowSqlFormat,
  contract: createContractFormat,
  otlp: createOtlpFormat,
  json: createJsonLinesFormat,
  ...OWN_LAYOUT_CREATORS,
} satisfies Record<string, FormatCreator>;

/** Of these, most lines belong to the record above, and may have times that are not those of records. */
const RARE_HEADS: ReadonlySet<FormatName> = new Set<FormatName>(['lindb-slow-sql', 'mysql-slow', 'apt-history']);

/** Names of files in which only heads are known, or nothing. */
const PLAIN_NAMES = ['timed-text', 'clock-text', 'json-keys', 'json-mixed', 'python-basic', 'text'] as const;

type BuiltInFormatName = keyof typeof CREATORS | ColumnSetName | BlockName | (typeof PLAIN_NAMES)[number];

export const FORMAT_NAMES: readonly BuiltInFormatName[] = [
  ...(Object.keys(CREATORS) as (keyof typeof CREATORS)[]),
  ...COLUMN_SET_NAMES,
  ...BLOCK_NAMES,
  ...PLAIN_NAMES,
];

/** Whether times may lack a year or a date, so that they depend on when the file was written. */
export function hasPartialTimes(spec: FormatName, added: readonly CandidateFormat[] = []): boolean {
  const { plain, learned } = splitSpec(spec);
  if (learned && 'slots' in learned) return hasPartialSlots(learned);
  return added.find((format) => format.name === plain)?.isPartial ?? false;
}

/** Creates a format from its spec, for example in another thread. */
export function createFormat(
  spec: FormatName,
  options: FormatOptions,
  added: readonly CandidateFormat[] = [],
): ShapedFormat {
  const { wrappers, plain, learned } = splitSpec(spec);
  const create = added.find((format) => format.name === plain)?.create;
  const made = create ? create(options) : createBuiltIn(plain, learned, options);
  return wrappers.reduceRight((inner, wrapper) => wrap(wrapper, inner, { ...options, added }), made);
}

type Learned = LearnedHead | { paths: JsonPaths };

function createBuiltIn(plain: FormatName, learned: Learned | undefined, options: FormatOptions): ShapedFormat {
  if (learned) return createLearned(plain, learned, options);
  if (plain in CREATORS) return CREATORS[plain as keyof typeof CREATORS](options);
  if (plain === 'python-basic') return createPythonBasicFormat(options);
  if (isBlockName(plain)) return createBlockFormat(plain, options);
  const column = w3cColumn(plain);
  if (column !== undefined) return createW3cFormat(CREATORS.w3c(options), column);
  return createLearned(plain, plain === 'text' ? NOTHING_LEARNED : UNSAMPLED, options);
}

/** Of a file of which no line was seen: a full date at the start of a line starts a record. */
const UNSAMPLED: LearnedHead = {
  ...NOTHING_LEARNED,
  slots: [{ spelling: 'iso', place: 'start', before: 0, mostWords: 2, levels: [], other: '', postgres: false }],
};

/** QuestDB has advisory messages, and Ruby `ANY`, which is no level. */
const LETTERS: Readonly<Record<FormatName, Readonly<Record<string, number>>>> = {
  questdb: { A: 3 },
  ruby: { A: 0 },
};

function createLearned(plain: FormatName, learned: Learned, options: FormatOptions): HeadFormat | ShapedFormat {
  const spec = learned === NOTHING_LEARNED ? plain : plain + LEARNED_MARK + encodeURIComponent(JSON.stringify(learned));
  if (!('slots' in learned)) return createJsonPathFormat(spec, CREATORS.json(options), learned.paths, options);
  return createHead(plain, spec, learned, options);
}

function createHead(plain: FormatName, spec: FormatName, learned: LearnedHead, options: FormatOptions): HeadFormat {
  const { columns: name = plain } = learned;
  const letters = LETTERS[name];
  return createHeadFormat({
    ...options,
    name: plain,
    spec,
    learned,
    letters,
    columns: columnSet(name),
    json: CREATORS.json(options),
  });
}

/** The parts of a spec like `docker+ansi+iso~…`, the outermost first, and what was learned. */
export function splitSpec(spec: FormatName): {
  wrappers: WrapperName[];
  plain: FormatName;
  learned: Learned | undefined;
} {
  const [shown = spec, encoded] = spec.split(LEARNED_MARK);
  const parts = shown.split('+');
  const plain = parts.pop() ?? shown;
  const learned = encoded === undefined ? undefined : (JSON.parse(decodeURIComponent(encoded)) as Learned);
  return { wrappers: parts as WrapperName[], plain, learned };
}

function wrap(
  name: WrapperName,
  inner: ShapedFormat,
  { added, ...options }: FormatOptions & { added: readonly CandidateFormat[] },
): ShapedFormat {
  const wrapper = createWrapper(name, options);
  return createWrappedFormat(wrapper, inner, {
    isPartial: hasPartialTimes(inner.spec, added),
    elsewhere: wrapper.timed ? createFormat(inner.spec, { ...options, zone: ELSEWHERE }, added) : undefined,
  });
}

/**
 * Detects the formats of many files: the candidates are created once, which takes longer than matching them on a short
 * file.
 */
export class FormatDetector {
  readonly #zone: Zone;
  readonly #formats: readonly ShapedFormat[];
  readonly #candidates: readonly CandidateFormat[];
  readonly #added: readonly (ShapedFormat | undefined)[];
  readonly #wrappers = new Map<WrapperName, LineWrapper>();
  #ofNothing: Format | undefined;

  constructor(zone: Zone, added: readonly CandidateFormat[] = []) {
    this.#zone = zone;
    const options = { zone, writtenMs: Number.NaN };
    this.#formats = Object.values(CREATORS).map((create) => create(options));
    this.#candidates = added;
    this.#added = added.map(({ isPartial, create }) => (isPartial ? undefined : create(options)));
  }

  /**
   * The format in which most lines of a sample, the start of a file and parts of its rest, start records with times. Leading
   * lines that belong to no record do not matter. If no line has a time, it is JSON or plain text.
   */
  detect(sample: Buffer, writtenMs: number): Format {
    if (sample.length > 0) return this.#detectIn(sample, writtenMs, WRAPPER_NAMES);
    this.#ofNothing ??= this.#detectIn(sample, Number.NaN, WRAPPER_NAMES);
    return this.#ofNothing;
  }

  /** Each wrapper may be within those before it, and only once. */
  #detectIn(sample: Buffer, writtenMs: number, wrappers: readonly WrapperName[]): ShapedFormat {
    const bytes = sample.length > MAX_SAMPLE_BYTES ? sample.subarray(0, MAX_SAMPLE_BYTES) : sample;
    for (const [index, name] of wrappers.entries()) {
      const text = unwrapSample(this.#wrapper(name), bytes);
      if (!text) continue;
      const inner = this.#detectIn(text, writtenMs, wrappers.slice(index + 1));
      return wrap(name, inner, { zone: this.#zone, writtenMs, added: this.#candidates });
    }
    return this.#detectPlain(sample, writtenMs);
  }

  /** Only times without a year or date depend on when the file was written. */
  #createAdded(writtenMs: number): ShapedFormat[] {
    return this.#candidates.map(({ create }, index) => this.#added[index] ?? create({ zone: this.#zone, writtenMs }));
  }

  #wrapper(name: WrapperName): LineWrapper {
    const wrapper = this.#wrappers.get(name) ?? createWrapper(name, { zone: this.#zone });
    this.#wrappers.set(name, wrapper);
    return wrapper;
  }

  #detectPlain(sample: Buffer, writtenMs: number): ShapedFormat {
    const bytes = sample.subarray(0, MAX_SAMPLE_BYTES);
    const options = { zone: this.#zone, writtenMs };
    const blocks = detectBlocks(bytes, options);
    if (blocks) return blocks;
    const all = completeLines(bytes, Number.POSITIVE_INFINITY);
    const lines = all.length > MAX_LINES ? pickLines(all) : all;
    const usual = lines.filter(({ mayHaveUsualTime: may }) => may);
    const own = pickBest(this.#formats, sample, { lines, tried: usual });
    const timely = lines.filter(({ mayHaveTime: may }) => may);
    const added = pickBest(this.#createAdded(writtenMs), sample, { lines, tried: timely });
    const trimmed = lines.map(({ start, end }) => ({ start, end: trimLineEnd(bytes, start, end) }));
    const filled = trimmed.filter(({ start, end }) => end > start);
    const objects = filled.filter(({ start, end }) => isObject(bytes, start, end));
    const texts = filled.filter(({ start, end }) => !isObject(bytes, start, end));
    const isOwn = own && own.format.name !== 'json' && own.format.name !== 'w3c';
    const share = own?.format.name === 'contract' ? CONTRACT_SHARE : OWN_SHARE;
    // However many of the lines a learned head finds a time in, they are not more: learning takes most of the time.
    if (isOwn && !added && own.timed >= texts.length * share) return own.format;
    const learned = learnHead(bytes, texts, options);
    const timed = findTimedLines(bytes, texts, learned, options);
    if (added && added.timed * OVERRULED_FACTOR >= Math.max(timed.length, own?.timed ?? 0)) return added.format;
    if (own?.format.name === 'w3c') return withStatusColumn(own.format, bytes, lines);
    if (isOwn && (own.timed >= timed.length * share || RARE_HEADS.has(own.format.name))) return own.format;
    // Text between objects that starts with no date is what is left of one of them.
    const isText =
      objects.length < texts.length ||
      learned.slots.some(({ spelling, place }) => place === 'start' && spelling !== 'epoch');
    if (timed.length === 0 || !isText) {
      if (objects.length > 0 && (objects.length >= texts.length || own?.format.name === 'json'))
        return detectJson(bytes, objects, options);
      return detectUntimed(sample, lines, options, learned);
    }
    const isClock = learned.slots[0]?.spelling === 'clock';
    const plain = pickColumns(timed, this.#zone)?.name ?? (isClock ? 'clock-text' : 'timed-text');
    const json = CREATORS.json(options);
    if (!objects.some((line) => hasTime(json, bytes, line))) return createLearned(plain, learned, options);
    return createLearned('json-mixed', { ...learned, columns: plain }, options);
  }
}

/** Which keys of objects are time and level, if those that most loggers use are not. */
function detectJson(bytes: Buffer, objects: readonly Line[], options: FormatOptions): ShapedFormat {
  const plain = CREATORS.json(options);
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  let timed = 0;
  let levelled = 0;
  for (const { start, end } of objects) {
    if (!plain.readHead(bytes, start, end, head)) continue;
    if (!Number.isNaN(head.timeMs)) timed++;
    if (head.rank > 0) levelled++;
  }
  // log4j2 writes seconds and nanoseconds as two members.
  const isTimedEnough = timed >= objects.length / 2 && !bytes.includes('"nanoOfSecond"');
  const isLevelled = levelled >= objects.length * FEW;
  if (isTimedEnough && isLevelled) return plain;
  const texts = objects.slice(0, MAX_OBJECTS).map(({ start, end }) => bytes.toString('utf8', start, end));
  const { time, level, scale } = learnJsonPaths(texts, options);
  const paths: JsonPaths = {
    ...(time && !isTimedEnough && { time }),
    ...(level && !isLevelled && { level, ...(scale && { scale }) }),
  };
  return paths.time || paths.level ? createLearned('json-keys', { paths }, options) : plain;
}

function detectUntimed(
  sample: Buffer,
  lines: readonly SampleLine[],
  options: FormatOptions,
  learned: LearnedHead,
): ShapedFormat {
  const python = createPythonBasicFormat(options);
  const [first] = lines;
  // The first line alone decides, so that the format stays the same while the file grows.
  if (first && python.isTypical(sample, first.start, first.end)) return python;
  return createLearned('text', learned.untimedLevels.length > 0 ? learned : NOTHING_LEARNED, options);
}

/** If at least this share of objects has a level, others need none. */
const FEW = 0.1;

/** Lines from which heads are learned: the first ones, and as many from the rest. */
const MAX_LINES = 96;
const FIRST_LINES = 48;

/** Of a text that starts with a long stack, those lines that may have times. */
function pickLines(all: readonly SampleLine[]): SampleLine[] {
  const lines = spread(all);
  if (lines.some(({ mayHaveUsualTime: may }) => may)) return lines;
  return all.filter(({ mayHaveUsualTime: may }, index) => may || index < FIRST_LINES).slice(0, MAX_LINES);
}

function spread(lines: readonly SampleLine[]): SampleLine[] {
  const rest = lines.length - FIRST_LINES;
  return lines.filter((_, index) => {
    const place = index - FIRST_LINES;
    // In pairs, since the level of a record may be on the line below it.
    return (
      place < 0 || Math.floor((place * FIRST_LINES) / rest / 2) > Math.floor(((place - 2) * FIRST_LINES) / rest / 2)
    );
  });
}

/** Objects of JSON whose keys are learned. */
const MAX_OBJECTS = 48;

function hasTime(format: ShapedFormat, bytes: Buffer, { start, end }: Line): boolean {
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  return format.readHead(bytes, start, end, head) && !Number.isNaN(head.timeMs);
}

function findTimedLines(
  bytes: Buffer,
  lines: readonly Line[],
  learned: LearnedHead,
  options: FormatOptions,
): TimedLine[] {
  if (learned.slots.length === 0) return [];
  const format = createHead('timed-text', 'timed-text', learned, options);
  return lines.flatMap(({ start, end }) => format.findLine(bytes, start, end) ?? []);
}

/** A more specific format wins over a general one that finds times in slightly more lines. */
const NEARLY_AS_MANY = 0.9;

/** A format with heads of its own is preferred if it finds times in at least this share of the lines that have some. */
const OWN_SHARE = 0.5;

/** The format of the node's own logs is like that of other programs, which may write some of their times differently. */
const CONTRACT_SHARE = 0.8;

/** Of the lines in which a format finds times, at least this share must be typical of it. */
const TYPICAL_SHARE = 0.5;

interface Candidate {
  format: ShapedFormat;
  /** Lines that start a record with a time. */
  timed: number;
}

/** All lines, and those that may have times. */
interface Sampled {
  lines: readonly Line[];
  tried: readonly Line[];
}

/** The first format that finds times in nearly as many lines as any other, in typical ones of its own. */
function pickBest(formats: readonly ShapedFormat[], bytes: Buffer, { lines, tried }: Sampled): Candidate | undefined {
  const fitting: Candidate[] = [];
  for (const format of formats) {
    const timed = tried.filter((line) => hasTime(format, bytes, line));
    if (timed.length === 0 || !hasTypicalLines(format, bytes, { lines, timed })) continue;
    fitting.push({ format, timed: timed.length });
    // None that follows can find so many more.
    if (fitting.length === 1 && timed.length >= tried.length * NEARLY_AS_MANY) break;
  }
  const most = Math.max(0, ...fitting.map(({ timed }) => timed));
  return fitting.find(({ timed }) => timed >= most * NEARLY_AS_MANY);
}

function hasTypicalLines(
  { header, isTypical }: ShapedFormat,
  bytes: Buffer,
  { lines, timed }: { lines: readonly Line[]; timed: readonly Line[] },
): boolean {
  if (header && lines.some(({ start, end }) => startsWith(bytes, start, end, header))) return true;
  const typical = timed.filter(({ start, end }) => isTypical(bytes, start, end));
  return typical.length >= timed.length * TYPICAL_SHARE;
}

type FormatCreator = (options: FormatOptions) => ShapedFormat;

/** A format that is tried on files. */
interface CandidateFormat {
  name: FormatName;
  /** Its times may lack a year or a date. */
  isPartial: boolean;
  create: FormatCreator;
}

/** Compiled when it is first needed: most files are recognised before most formats are tried. */
function lazyLayout(definition: LayoutDefinition): FormatCreator {
  let compiled: ReturnType<typeof compileLayoutFormat> | undefined;
  return (options) => {
    compiled ??= compileLayoutFormat(definition);
    return compiled.create(options);
  };
}

/** The formats of a directory: those from the settings, and the built-in ones. Valid definitions only. */
export class FormatSet {
  readonly #definitions: readonly UserFormat[];
  readonly #added: readonly CandidateFormat[];
  readonly #detectors = new WeakMap<Zone, FormatDetector>();

  constructor(definitions: readonly UserFormat[] = []) {
    this.#definitions = definitions;
    this.#added = definitions.map((definition) => ({
      name: definition.name,
      ...compileLayoutFormat({ ...definition, programs: '' }),
    }));
  }

  /** All definitions as threads need them, or only the one with this name. Nothing for a built-in format. */
  forThread(name?: FormatName): UserFormat[] | undefined {
    const plain = name === undefined ? undefined : splitSpec(name).plain;
    const needed = this.#definitions.filter((definition) => plain === undefined || definition.name === plain);
    return needed.length === 0 ? undefined : needed.map((definition) => ({ ...definition, samples: [] }));
  }

  create(name: FormatName, options: FormatOptions): Format {
    return createFormat(name, options, this.#added);
  }

  detect(sample: Buffer, { zone, writtenMs }: FormatOptions): Format {
    return this.detector(zone).detect(sample, writtenMs);
  }

  /** Kept for the next file of the zone: creating the candidates takes longer than matching them. */
  detector(zone: Zone): FormatDetector {
    const detector = this.#detectors.get(zone) ?? new FormatDetector(zone, this.#added);
    this.#detectors.set(zone, detector);
    return detector;
  }

  hasPartialTimes(name: FormatName): boolean {
    return hasPartialTimes(name, this.#added);
  }
}

/** Without formats from the settings. */
export const BUILT_IN_FORMATS = new FormatSet();
