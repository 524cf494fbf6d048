import { JobCancelled } from '../cancel-flag.ts';
import { fnv1a } from '../cursor/cursor.ts';
import { findDecoder, isCompressedName } from '../file/compression.ts';
import { buildGzMap } from '../gzip/gz-map.ts';
import { exerciseKernel, ScanKernel } from '../kernel/scan-kernel.ts';
import { buildChunkMap } from '../packed/chunk-map.ts';
import { buildUtf16Map } from '../packed/utf16.ts';
import { BUILT_IN_FORMATS, FormatSet } from '../parse/detect-format.ts';
import type { Format, FormatName } from '../parse/format.ts';
import { createZone, type Zone } from '../parse/zone.ts';
import { hasRegex } from '../query/filter-to-query.ts';
import { describeFiles } from '../read/describe-files.ts';
import { statEntries } from '../read/stat-entries.ts';
import { CleanParts, CleanRanges, CleanReads } from '../scrub/clean-ranges.ts';
import { Scrubber, type ScrubRules } from '../scrub/scrubber.ts';
import type { RecordFilter } from '../types.ts';
import { BlockScanner } from './block/block-scanner.ts';
import { assertNotTruncated, hasStamp, openFileText, type ScrubberSource } from './block/file-text.ts';
import type { RecordsJob } from './block/found-lines.ts';
import type { PackedMap, ScanFile } from './block/scan-file.ts';
import {
  type CheckJob,
  CLIENT_TURN_MS,
  describeFailure,
  type Job,
  type JobResults,
  type RegexJob,
  type TextJob,
  type VerifyJob,
  type VerifyResult,
  type WorkerResponse,
  type WorkerTask,
} from './jobs.ts';
import { RecordMatcher } from './match/record-matcher.ts';
import { RegexCache } from './match/regex.ts';
import { type ScanTools, scanTimes } from './match/scan-part.ts';
import { buildSegment } from './tasks/build-segment.ts';
import { probe } from './tasks/probe.ts';
import { scanDigest } from './tasks/scan-digest.ts';
import { scanHistogram } from './tasks/scan-histogram.ts';
import { scanFields, scanTop } from './tasks/scan-matches.ts';
import { scanRecords } from './tasks/scan-records.ts';
import { alignToRecord, firstAt, seekTime } from './tasks/seek-time.ts';

/**
 * A job with a regex may occupy its thread for this long; the rest of it becomes a new job, queued behind those of
 * others.
 */
const TURN_MS = 100;

/** Files that are searched in turns. */
const KEPT_FORMATS = 16;

interface Run {
  isCancelled(): boolean;
  clean?: CleanReads;
}

/** Runs the jobs of one thread, one at a time. Caches what is expensive to create for the next one. */
export class JobRunner {
  readonly #kernel = new ScanKernel();
  readonly #zones = new Map<string, Zone>();
  readonly #formats = new Map<string, Format>();
  /** Keeps those of the last filter with any: all jobs of a search have the same. */
  readonly #regexes = new RegexCache();
  /** Of the last filter: the jobs of a bundle have the same one. */
  #last: RecordMatcher | undefined;
  #scrubber: Scrubber | undefined;
  readonly #clean = new CleanRanges();
  readonly #cleanParts = new CleanParts(this.#kernel);
  readonly #isContended: () => boolean;

  /** `isContended`: whether jobs of other clients wait. */
  constructor({ isContended = () => false }: { isContended?: () => boolean } = {}) {
    this.#isContended = isContended;
  }

  /** Compiles what most searches run. */
  prepare(): void {
    exerciseKernel(this.#kernel, this.#formatFor('contract', this.#zoneFor('UTC'), 0));
  }

  async run(job: Job, isCancelled: () => boolean): Promise<JobResults[Job['kind']]> {
    const result = await this.#runProven(job, isCancelled);
    // Checked afterwards: what was read before the truncation is as good as what is read from its copy.
    if ('file' in job) assertNotTruncated(job.file);
    return result;
  }

  /** Results that relied on ranges known to contain no secrets are only used if the file has not changed meanwhile. */
  async #runProven(job: Job, isCancelled: () => boolean): Promise<JobResults[Job['kind']]> {
    const reads = new CleanReads(this.#clean);
    const result = await this.#run(job, { isCancelled, clean: reads });
    if (!('file' in job) || !reads.isUsed) return result;
    if (hasStamp(job.file)) reads.keep();
    else if (reads.reliedOn) return this.#run({ ...job, file: { ...job.file, stamp: undefined } }, { isCancelled });
    return result;
  }

  async #run(job: Job, run: Run): Promise<JobResults[Job['kind']]> {
    switch (job.kind) {
      case 'bundle':
        return this.#runAll(job.tasks);
      case 'records':
        return scanRecords(job, await this.#matcher(job.filter), this.#turn(job, run));
      case 'histogram':
        return scanHistogram(job, await this.#matcher(job.filter), this.#turn(job, run));
      case 'digest':
        return scanDigest(job, await this.#matcher(job.filter), this.#turn(job, run));
      case 'top':
        return scanTop(job, await this.#matcher(job.filter), this.#turn(job, run));
      case 'fields':
        return scanFields(job, await this.#matcher(job.filter), this.#turn(job, run));
      case 'times':
        return scanTimes(job, this.#tools(job.file, run));
      case 'seek':
        return seekTime(job.file, job, this.#tools(job.file, run));
      case 'first-at':
        return firstAt(job.file, job, this.#tools(job.file, run));
      case 'align':
        return alignToRecord(job.file, job.offset, this.#tools(job.file, run));
      case 'check':
        return checkAt(job, { scrubberFor: this.#scrubberFor });
      case 'segment':
        return buildSegment(job, this.#tools(job.file, run));
      case 'probe':
        return probe(job, await this.#matcher(job.filter), run.isCancelled);
      case 'verify':
        return this.#verify(job, run);
      case 'text':
        return readText(job, { scrubberFor: this.#scrubberFor });
      case 'packed-map':
        return buildPackedMap(job.file, run);
      case 'describe':
        return describeFiles(job, { zone: this.#zoneFor(job.zone), isCancelled: run.isCancelled });
      case 'stat':
        return statEntries(job, run.isCancelled);
      case 'regex':
        return this.#testAll(job, run.isCancelled);
    }
  }

  /** One after the other; what became of each is part of the result. */
  async #runAll(tasks: readonly WorkerTask[]): Promise<WorkerResponse[]> {
    const responses: WorkerResponse[] = [];
    for (const { id, job, cancelled } of tasks) {
      const flag = new Int32Array(cancelled);
      try {
        const isCancelled = () => Atomics.load(flag, 0) !== 0;
        if (isCancelled()) throw new JobCancelled();
        responses.push({ id, result: await this.run(job, isCancelled) });
      } catch (error) {
        responses.push({ id, failure: describeFailure(error) });
      }
    }
    return responses;
  }

  #verify({ file, blocks }: VerifyJob, run: Run): VerifyResult {
    const tools = this.#tools(file, run);
    const scanner = new BlockScanner(tools.kernel, openFileText(file, tools), tools);
    const result: VerifyResult = { valid: [], stale: [] };
    for (const { block, check } of blocks) {
      if (run.isCancelled()) break;
      (scanner.isUnchanged(block, check) ? result.valid : result.stale).push(block);
    }
    return result;
  }

  #scrubberFor = (rules: ScrubRules): Scrubber => {
    if (this.#scrubber?.id !== rules.id) this.#scrubber = new Scrubber(rules, this.#kernel.grams);
    return this.#scrubber;
  };

  /** For a job that searches records. Without a regex every part is short; with one, a single block may not be. */
  #turn({ file, filter }: Pick<RecordsJob, 'file' | 'filter'>, run: Run): ScanTools {
    const startMs = performance.now();
    const mostMs = hasRegex(filter) ? TURN_MS : Infinity;
    const isDue = () => {
      const turnMs = this.#isContended() ? CLIENT_TURN_MS : mostMs;
      return turnMs < Infinity && performance.now() >= startMs + turnMs;
    };
    return { ...this.#tools(file, run), isDue };
  }

  #tools({ format, formats, zone: zoneName, writtenMs }: ScanFile, { isCancelled, clean }: Run): ScanTools {
    const zone = this.#zoneFor(zoneName);
    const made = formats
      ? new FormatSet(formats).create(format, { zone, writtenMs })
      : this.#formatFor(format, zone, writtenMs);
    const isDue = () => false;
    return {
      kernel: this.#kernel,
      format: made,
      zone,
      isCancelled,
      isDue,
      scrubberFor: this.#scrubberFor,
      ...(clean && { clean }),
      cleanParts: this.#cleanParts,
      memoryAround: this.#kernel.memoryAround,
      mayHaveHole: this.#kernel.mayHaveHole,
    };
  }

  /** The format of the last few files, with what the kernel has learned of their lines. */
  #formatFor(spec: FormatName, zone: Zone, writtenMs: number): Format {
    const key = `${writtenMs} ${zone.name} ${spec}`;
    const format = this.#formats.get(key) ?? BUILT_IN_FORMATS.create(spec, { zone, writtenMs });
    this.#formats.delete(key);
    this.#formats.set(key, format);
    const [oldest] = this.#formats.keys();
    if (this.#formats.size > KEPT_FORMATS && oldest !== undefined) this.#formats.delete(oldest);
    return format;
  }

  #zoneFor(name: string): Zone {
    const zone = this.#zones.get(name) ?? createZone(name);
    this.#zones.set(name, zone);
    return zone;
  }

  async #matcher(filter: RecordFilter): Promise<RecordMatcher> {
    if (this.#last?.filter !== filter) this.#last = new RecordMatcher(filter, await this.#regexes.compile(filter));
    return this.#last;
  }

  async #testAll({ filter, texts }: RegexJob, isCancelled: () => boolean): Promise<boolean[]> {
    const findRegex = await this.#regexes.compile(filter);
    const { regex: pattern, caseSensitive } = filter;
    const regex = pattern === undefined ? undefined : findRegex({ pattern, ...(caseSensitive && { caseSensitive }) });
    return texts.map((text) => {
      if (isCancelled()) throw new JobCancelled();
      return regex?.test(Buffer.from(text.buffer, text.byteOffset, text.length).toString()) ?? true;
    });
  }
}

function buildPackedMap({ name, fd, sizeBytes, encoding }: ScanFile, { isCancelled }: Run): PackedMap {
  if (encoding && !isCompressedName(name)) return buildUtf16Map({ fd, sizeBytes, encoding }, { isCancelled });
  const decoder = findDecoder(name) ?? 'gzip';
  if (decoder === 'gzip' && !encoding) return buildGzMap(fd, sizeBytes, { isCancelled });
  return buildChunkMap({ fd, sizeBytes, decoder, encoding }, { isCancelled });
}

function checkAt({ file, offset, bytes }: CheckJob, scrubbers: ScrubberSource): number {
  const text = openFileText(file, scrubbers);
  if (offset + bytes > text.sizeBytes) return -1;
  const buffer = Buffer.alloc(bytes);
  text.read(buffer, 0, offset, bytes);
  return fnv1a(buffer, 0, bytes);
}

function readText({ file, offset, bytes }: TextJob, scrubbers: ScrubberSource): Uint8Array<ArrayBuffer> {
  const target = new Uint8Array(bytes);
  const got = openFileText(file, scrubbers).read(Buffer.from(target.buffer), 0, offset, bytes);
  return target.subarray(0, got);
}
