import type { CancelFlag } from '../cancel-flag.ts';
import type { FieldLimits, FieldsJob } from '../scan/count/count-jobs.ts';
import { FieldTable } from '../scan/count/field-table.ts';
import { disorderNear, SMALL_BYTES } from '../scan/tasks/seek-time.ts';
import type { Fields, FieldsQuery } from '../types.ts';
import { FamilyCount } from './count-families.ts';
import { noteProblem, type OpenFamily, releaseFamily } from './files/open-family.ts';
import type { OpenFile } from './files/open-file.ts';
import type { FilePart } from './plan/file-parts.ts';
import type { ScanContext } from './scan-context.ts';
import { type SearchOptions, StopReason } from './stop-reason.ts';

/** About so much of a range with more text is examined: every record of it is parsed completely. */
const MAX_SAMPLE_BYTES = 16 * 1024 ** 2;

/** Text is about so much larger than the compressed file. */
const COMPRESSION = 8;

/** Spreads the starts of several logs evenly. */
const GOLDEN_RATIO = 0.618034;

export type FieldsOptions = SearchOptions & {
  /** For tests. */
  fieldLimits?: FieldLimits & { maxSampleBytes?: number };
};

/** The fields of matching records. Takes ownership of the families and releases them. */
export async function fields(
  scanContext: ScanContext,
  families: readonly OpenFamily[],
  query: FieldsQuery,
  { fieldLimits = {}, ...options }: FieldsOptions = {},
): Promise<Fields> {
  const { maxSampleBytes = MAX_SAMPLE_BYTES, ...limits } = fieldLimits;
  const stop = new StopReason(options);
  try {
    await scanContext.checkRegex(query, stop.newFlag());
    const bytes = await rangeBytes({ scanContext, families, query, flag: stop.newFlag() });
    const sample = new Sample(bytes / maxSampleBytes);
    const jobFor = ({ file, runs, startBytes, endBytes }: FilePart): FieldsJob => {
      return { kind: 'fields', file, runs, startBytes, endBytes, filter: query, limits };
    };
    const sampleFor = bytes > maxSampleBytes ? (family: number) => sample.forFamily(family) : undefined;
    const count = new FamilyCount(scanContext, families, { filter: query, stop, sampleFor, jobFor });
    const table = new FieldTable(limits);
    for await (const { result } of count.results()) table.merge(result);
    return {
      fields: table.summaries(query.limit),
      totalFields: table.totalFields(),
      records: table.records,
      isSample: sample.isPartial,
      end: await count.end(table.records),
    };
  } finally {
    stop.end();
    for (const family of families) releaseFamily(family);
  }
}

/** Chooses one of `every` blocks. */
class Sample {
  /** Whether a block was left out. */
  isPartial = false;
  readonly #every: number;

  constructor(every: number) {
    this.#every = every;
  }

  forFamily(family: number): () => boolean {
    let position = (family * GOLDEN_RATIO * this.#every) % this.#every;
    return () => {
      position++;
      const isChosen = position >= this.#every;
      if (isChosen) position -= this.#every;
      else this.isPartial = true;
      return isChosen;
    };
  }
}

interface RangeOptions {
  scanContext: ScanContext;
  families: readonly OpenFamily[];
  query: FieldsQuery;
  flag: CancelFlag;
}

/** About how much text is in the time range: of large files a few times are read to find out. */
async function rangeBytes(options: RangeOptions): Promise<number> {
  const { scanContext, families, query, flag } = options;
  const { fromMs = -Infinity, toMs = Infinity } = query;
  let bytes = 0;
  for (const family of families) {
    for (const [number, opened] of family.files.entries()) {
      const nextMs = family.files[number + 1]?.firstMs ?? Infinity;
      const isBefore = nextMs < fromMs - disorderNear(scanContext.zone, fromMs);
      const isBehind = (opened.firstMs ?? -Infinity) > toMs + disorderNear(scanContext.zone, toMs);
      if (!isBefore && !isBehind && !flag.isSet) bytes += await bytesInRange(options, family, opened);
    }
  }
  return bytes;
}

async function bytesInRange(
  { scanContext, query, flag }: RangeOptions,
  { problems }: OpenFamily,
  opened: OpenFile,
): Promise<number> {
  const { fromMs = -Infinity, toMs = Infinity } = query;
  const { sizeBytes } = opened.handle;
  if (opened.compressed) return sizeBytes * COMPRESSION;
  if (sizeBytes <= SMALL_BYTES || (fromMs === -Infinity && toMs === Infinity)) return sizeBytes;
  try {
    const file = await scanContext.prepare(opened, flag, problems);
    const { startBytes, endBytes } = await scanContext.pool.run({ kind: 'seek', file, fromMs, toMs }, flag);
    return Math.max(0, endBytes - startBytes);
  } catch (error) {
    if (!flag.isSet) noteProblem(problems, opened.name, error);
    return 0;
  }
}
