import type { FieldsJob, TopJob } from '../scan/count/count-jobs.ts';
import type { DigestJob } from '../scan/digest/scanned-groups.ts';
import type { HistogramJob, JobResults } from '../scan/jobs.ts';
import { RecordMatcher } from '../scan/match/record-matcher.ts';
import type { RecordFilter, SearchEnd } from '../types.ts';
import { computeCoverage } from './coverage.ts';
import { listDuplicates, listProblems, type OpenFamily } from './files/open-family.ts';
import {
  COUNTED_PART_BLOCKS,
  type FamilyProgress,
  type FamilyTask,
  FIRST_POSITION,
  type FilePart,
  LAST_POSITION,
} from './plan/file-parts.ts';
import { type PartOutcome, runParts } from './plan/run-parts.ts';
import { ScanTally } from './plan/scan-tally.ts';
import type { ScanContext } from './scan-context.ts';
import type { StopReason } from './stop-reason.ts';

type CountJob = HistogramJob | DigestJob | TopJob | FieldsJob;

export interface Counted<J extends CountJob> {
  family: OpenFamily;
  part: FilePart;
  result: JobResults[J['kind']];
}

interface CountOptions<J extends CountJob> {
  filter: RecordFilter;
  stop: StopReason;
  known?: FamilyTask['known'];
  /** Blocks of each family that are scanned; all if absent. */
  sampleFor?: ((family: number) => FamilyTask['isChosen']) | undefined;
  /** Maximum blocks of a part. */
  mostBlocks?: number;
  jobFor(part: FilePart): J;
}

/**
 * Scans whole families, oldest first and in parallel, so that a count that is cut short is complete up to some time.
 */
export class FamilyCount<J extends CountJob> {
  readonly #scanContext: ScanContext;
  readonly #families: readonly OpenFamily[];
  readonly #options: CountOptions<J>;
  readonly #tally = new ScanTally();
  readonly #progress: FamilyProgress[];

  constructor(scanContext: ScanContext, families: readonly OpenFamily[], options: CountOptions<J>) {
    this.#scanContext = scanContext;
    this.#families = families;
    this.#options = options;
    this.#progress = families.map(() => ({ reached: FIRST_POSITION, isComplete: false }));
  }

  /** The results of the scans, part by part. */
  async *results(): AsyncGenerator<Counted<J>, void, undefined> {
    const lines = this.#families.map((family, number) => this.#openStream(family, number));
    try {
      for (;;) {
        const next = lines.reduce<FamilyStream<J> | undefined>((first, line) => {
          return line.isDone || (first && first.reachedMs <= line.reachedMs) ? first : line;
        }, undefined);
        if (!next) return;
        const { value, done } = await next.parts.next();
        next.isDone = done === true;
        if (!value) continue;
        next.reachedMs = Math.max(next.reachedMs, value.result.maxMs);
        yield { family: next.family, ...value };
      }
    } finally {
      for (const { parts } of lines) await parts.return();
    }
  }

  /** How it ended and what it covered, after all results were consumed. */
  async end(records: number): Promise<Omit<SearchEnd, 'type' | 'cursor'>> {
    const { stop, filter } = this.#options;
    const reason = stop.reason ?? 'exhausted';
    const parts = this.#families.map((family, number) => {
      const progress = this.#progress[number];
      return {
        family,
        from: FIRST_POSITION,
        to: progress?.isComplete ? LAST_POSITION : (progress?.reached ?? FIRST_POSITION),
      };
    });
    const { fromMs, toMs } = filter;
    const reader = { scanContext: this.#scanContext, flag: stop.newSeekFlag() };
    const covered =
      reason === 'cancelled'
        ? null
        : await stop.unlessCancelled(computeCoverage(reader, parts, { fromMs, toMs, tally: this.#tally }));
    this.#tally.checkUnread();
    const problems = listProblems(this.#families);
    return { ...this.#tally.end({ reason, records, problems, covered }), ...listDuplicates(this.#families) };
  }

  #openStream(family: OpenFamily, number: number): FamilyStream<J> {
    const { filter, stop, known, sampleFor, mostBlocks = COUNTED_PART_BLOCKS, jobFor } = this.#options;
    const task: FamilyTask = {
      scanContext: this.#scanContext,
      family,
      range: { from: FIRST_POSITION, to: LAST_POSITION },
      matcher: new RecordMatcher(filter),
      newestFirst: false,
      flag: stop.newFlag(),
      tally: this.#tally,
      known,
      isChosen: sampleFor?.(number),
      mostBlocks,
      ...(this.#progress[number] && { progress: this.#progress[number] }),
    };
    return { family, parts: runParts(task, jobFor), reachedMs: family.files[0]?.firstMs ?? -Infinity, isDone: false };
  }
}

/** One of the families scanned in parallel. */
interface FamilyStream<J extends CountJob> {
  family: OpenFamily;
  parts: AsyncGenerator<PartOutcome<J['kind']>, void, undefined>;
  reachedMs: number;
  isDone: boolean;
}
