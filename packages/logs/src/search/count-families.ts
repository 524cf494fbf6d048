import type { DigestJob, HistogramJob, JobResults } from '../scan/jobs.ts';
import { RecordMatcher } from '../scan/record-matcher.ts';
import type { RecordFilter, SearchEnd } from '../types.ts';
import { coverageOf } from './coverage.ts';
import { COUNTED_PART_BLOCKS, type FamilyProgress, type FamilyTask, type FilePart } from './file-parts.ts';
import { duplicatesOf, type OpenFamily } from './open-family.ts';
import { FIRST_PLACE, LAST_PLACE } from './place.ts';
import { type PartOutcome, runParts } from './run-parts.ts';
import type { ScanShop } from './scan-shop.ts';
import { ScanTally } from './scan-tally.ts';
import type { StopReason } from './stop-reason.ts';

type CountJob = HistogramJob | DigestJob;

export interface Counted<J extends CountJob> {
  family: OpenFamily;
  part: FilePart;
  result: JobResults[J['kind']];
}

interface CountOptions<J extends CountJob> {
  filter: RecordFilter;
  stop: StopReason;
  takeKnown?: FamilyTask['takeKnown'];
  jobFor(part: FilePart): J;
}

/** Scans whole families, oldest first and side by side, so that a count that is cut short is whole up to some time. */
export class FamilyCount<J extends CountJob> {
  readonly #shop: ScanShop;
  readonly #families: readonly OpenFamily[];
  readonly #options: CountOptions<J>;
  readonly #tally = new ScanTally();
  readonly #progress: FamilyProgress[];

  constructor(shop: ScanShop, families: readonly OpenFamily[], options: CountOptions<J>) {
    this.#shop = shop;
    this.#families = families;
    this.#options = options;
    this.#progress = families.map(() => ({ reached: FIRST_PLACE, isComplete: false }));
  }

  /** What the scans found, part by part. */
  async *results(): AsyncGenerator<Counted<J>, void, undefined> {
    const lines = this.#families.map((family, number) => this.#lineOf(family, number));
    try {
      for (;;) {
        const next = lines.reduce<Line<J> | undefined>((first, line) => {
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

  /** How it ended and what it covered, when all results were taken. */
  async end(records: number): Promise<Omit<SearchEnd, 'type' | 'cursor'>> {
    const { stop, filter } = this.#options;
    const reason = stop.reason ?? 'exhausted';
    const parts = this.#families.map((family, number) => {
      const progress = this.#progress[number];
      return { family, from: FIRST_PLACE, to: progress?.isComplete ? LAST_PLACE : (progress?.reached ?? FIRST_PLACE) };
    });
    const { fromMs, toMs } = filter;
    const reader = { shop: this.#shop, flag: stop.newSeekFlag() };
    const covered =
      reason === 'cancelled'
        ? null
        : await stop.unlessCancelled(coverageOf(reader, parts, { fromMs, toMs, tally: this.#tally }));
    this.#tally.checkUnread();
    const problems = this.#families.flatMap((family) => family.problems);
    return { ...this.#tally.end({ reason, records, problems, covered }), ...duplicatesOf(this.#families) };
  }

  #lineOf(family: OpenFamily, number: number): Line<J> {
    const { filter, stop, takeKnown, jobFor } = this.#options;
    const task: FamilyTask = {
      shop: this.#shop,
      family,
      range: { from: FIRST_PLACE, to: LAST_PLACE },
      matcher: new RecordMatcher(filter),
      newestFirst: false,
      flag: stop.newFlag(),
      tally: this.#tally,
      takeKnown,
      mostBlocks: COUNTED_PART_BLOCKS,
      ...(this.#progress[number] && { progress: this.#progress[number] }),
    };
    return { family, parts: runParts(task, jobFor), reachedMs: family.files[0]?.firstMs ?? -Infinity, isDone: false };
  }
}

/** One family among those that are scanned side by side. */
interface Line<J extends CountJob> {
  family: OpenFamily;
  parts: AsyncGenerator<PartOutcome<J['kind']>, void, undefined>;
  reachedMs: number;
  isDone: boolean;
}
