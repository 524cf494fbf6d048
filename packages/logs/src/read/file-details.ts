import { setImmediate as nextTurn } from 'node:timers/promises';
import { isCompressedName } from '../file/compression.ts';
import { isSettled } from '../file/file-stamp.ts';
import { SharedLookup } from '../file/shared-lookup.ts';
import type { DescribeResult } from '../scan/jobs.ts';
import type { LogFileDetails } from '../types.ts';
import type { EndsSummary } from './head-summary.ts';
import { findLinkTargets } from './linked-logs.ts';
import type { SeenFile } from './list.ts';
import type { SeenStats } from './seen-stats.ts';

/** Larger compressed files are not decompressed just to find their last time. */
const MAX_UNPACKED_BYTES = 256 * 1024 ** 2;

/**
 * From this many files on, worker threads examine them. That takes a tenth of the time, but they run at a low priority:
 * fewer files must not wait for them on a busy machine.
 */
const MIN_MANY = 1000;

/** A thread examines these in a few milliseconds. */
const FILES_PER_JOB = 200;

/** Enough that no thread waits for this one to prepare its next job, and new searches soon get their turn. */
const JOBS_AT_ONCE = 4;

/** Files processed by this thread before it yields. */
const FILES_PER_TURN = 2000;

interface Known {
  stats: SeenStats;
  details: LogFileDetails;
  isLasting: boolean;
}

/** What is known of a file after examining both ends. */
export type FileSummary = EndsSummary & Pick<LogFileDetails, 'problem'>;

export interface FileDetailsDeps {
  list(): Promise<SeenFile[]>;
  /** Examines one file of any kind. */
  describe(name: string): Promise<FileSummary>;
  /** Examines many plain files; leaves out those that need `describe`. */
  describeMany(names: readonly string[]): Promise<DescribeResult>;
  /** The last time in a compressed file, which must be decompressed completely for that. */
  lastTime(name: string): Promise<number | null>;
}

/** The listing with format and time range, read from both ends of each file. Concurrent requests share it. */
export class FileDetails {
  readonly #deps: FileDetailsDeps;
  readonly #all: SharedLookup<LogFileDetails[]>;
  /**
   * By name, valid while the file's stamp is the same; `isLasting` if every change shows in the stamp. An archive is
   * written once: the last time of its text, which takes long to find, is kept even in the first seconds.
   */
  readonly #known = new Map<string, Known>();
  #findingEnds: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(deps: FileDetailsDeps) {
    this.#deps = deps;
    this.#all = new SharedLookup(() => this.#describeAll());
  }

  all(): Promise<LogFileDetails[]> {
    return this.#all.get('');
  }

  close(): void {
    this.#closed = true;
  }

  async #describeAll(): Promise<LogFileDetails[]> {
    const files = await this.#deps.list();
    // Taken before any of them is read: data read later from a file that was just written may be newer than its stamp.
    const listedMs = Date.now();
    const known: (Known | undefined)[] = [];
    const plain: number[] = [];
    for (const [index, file] of files.entries()) {
      known.push(this.#findKnown(file));
      if (!known[index] && isPlain(file)) plain.push(index);
      if (isTurnEnd(index)) await nextTurn();
    }
    const [lookAt, memberships] = await Promise.all([this.#describeMany(files, plain), findMemberships(files)]);
    const listing: LogFileDetails[] = [];
    for (const [index, file] of files.entries()) {
      const membership = memberships.get(file.name) ?? { family: file.name, state: 'live' };
      const at = known[index];
      // No await for cached details: one turn of the event loop for each of many files is what takes the time.
      if (at) listing.push(withMembership(at, membership));
      else
        listing.push(
          this.#note(file, lookAt(index) ?? (await this.#deps.describe(file.name)), { membership, listedMs }),
        );
      if (isTurnEnd(index)) await nextTurn();
    }
    this.#forgetOthers(files);
    return listing;
  }

  /**
   * Has worker threads examine the plain files, if there are many. Each is requested once, in the order of the listing.
   */
  async #describeMany(
    files: readonly SeenFile[],
    plain: readonly number[],
  ): Promise<(index: number) => FileSummary | undefined> {
    if (plain.length < MIN_MANY) return () => undefined;
    const { describedAt } = await import('../scan/tasks/describe-files.ts');
    const results: DescribeResult[] = [];
    let started = 0;
    const work = async () => {
      while (started * FILES_PER_JOB < plain.length) {
        const job = started++;
        const some = plain.slice(job * FILES_PER_JOB, (job + 1) * FILES_PER_JOB);
        results[job] = await this.#deps.describeMany(some.map((index) => files[index]?.name ?? ''));
      }
    };
    await Promise.all(Array.from({ length: JOBS_AT_ONCE }, work));
    let next = 0;
    return (index) => {
      if (plain[next] !== index) return undefined;
      const result = results[Math.floor(next / FILES_PER_JOB)];
      return result && describedAt(result, next++ % FILES_PER_JOB);
    };
  }

  #findKnown({ name, stats }: SeenFile): Known | undefined {
    const known = this.#known.get(name);
    return known?.isLasting && known.stats.hasSameStamp(stats) ? known : undefined;
  }

  #note(
    { name, size, stats }: SeenFile,
    summary: FileSummary,
    { membership, listedMs }: { membership: Membership; listedMs: number },
  ): LogFileDetails {
    const compressed = isCompressedName(name);
    const { mtimeNs: modifiedNs, ctimeNs: changedNs } = stats;
    // No object spread: there may be 100,000 of these.
    const details: LogFileDetails = {
      name,
      size,
      modifiedMs: Number(modifiedNs / 1_000_000n),
      compressed,
      format: summary.format,
      firstTimeMs: summary.firstTimeMs,
      lastTimeMs: summary.lastTimeMs,
      problem: summary.problem,
      family: membership.family,
      state: membership.state,
    };
    // A failure may be temporary without the file changing, so it is not cached.
    if (summary.problem !== null) return details;
    const isLasting = compressed || isSettled({ modifiedNs, changedNs }, listedMs);
    this.#known.set(name, { stats, details, isLasting });
    if (compressed && size > 0 && size <= MAX_UNPACKED_BYTES) this.#findEndLater(name, stats);
    return details;
  }

  #forgetOthers(files: readonly SeenFile[]): void {
    const names = new Set(files.map(({ name }) => name));
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
  }

  /**
   * The last time of a compressed file is determined in the background, one file at a time: all of it must be
   * decompressed.
   */
  #findEndLater(name: string, stats: SeenStats): void {
    const find = async () => {
      const known = this.#known.get(name);
      const isSame = known?.stats.hasSameStamp(stats) && !this.#closed;
      const lastTimeMs = isSame ? await this.#deps.lastTime(name) : null;
      if (known && lastTimeMs !== null) known.details = { ...known.details, lastTimeMs };
    };
    // Nobody waits for a background lookup: a file that was deleted or is damaged has no last time, and whoever reads it
    // gets the error.
    this.#findingEnds = this.#findingEnds.then(find).catch(() => {});
  }
}

type Membership = Pick<LogFileDetails, 'family' | 'state'>;

/** The family depends on all names, so it may change while the file does not. */
function withMembership(known: Known, { family, state }: Membership): LogFileDetails {
  const { details } = known;
  if (details.family !== family || details.state !== state) known.details = { ...details, family, state };
  return known.details;
}

/** Of all files except single-file logs. A link to another log has the membership of the file it leads to. */
async function findMemberships(files: readonly SeenFile[]): Promise<ReadonlyMap<string, Membership>> {
  const { groupRotatedFamilies } = await import('../file/families.ts');
  const targets = findLinkTargets(files);
  const memberships = new Map<string, Membership>();
  for (const { name: family, files: members } of await groupRotatedFamilies(files.map(({ name }) => name))) {
    if (members.every(({ name }) => targets.has(name))) continue;
    for (const { name, state } of members) memberships.set(name, { family, state });
  }
  for (const [link, target] of targets) {
    if (!memberships.has(link)) memberships.set(link, memberships.get(target) ?? { family: target, state: 'live' });
  }
  return memberships;
}

/** A name that is not UTF-8 on disk cannot be opened as shown; a link must be verified to stay inside the directory. */
function isPlain({ name, isLink }: SeenFile): boolean {
  // A file in a directory below is opened with the checks of its path.
  return !isLink && !isCompressedName(name) && !name.includes('\uFFFD') && !name.includes('/');
}

function isTurnEnd(index: number): boolean {
  return index % FILES_PER_TURN === FILES_PER_TURN - 1;
}
