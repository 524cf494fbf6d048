import { setImmediate as nextTurn } from 'node:timers/promises';
import { isCompressedName } from '../file/compression.ts';
import { isSettled } from '../file/file-stamp.ts';
import { SharedLookup } from '../file/shared-lookup.ts';
import { awaitedLater, NO_WORK, unneeded } from '../shared.ts';
import type { LogFileDetails } from '../types.ts';
import type { DescribeResult } from './describe-files.ts';
import type { RotatedFamilies } from './dir-listing.ts';
import { findName } from './dir-names.ts';
import { findLinkTargets, type SeenFile } from './list.ts';
import type { EndsSummary } from './summarize-file.ts';

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

/** The last listing, sorted by name. */
interface Described {
  files: readonly SeenFile[];
  details: LogFileDetails[];
  /** 1 where the details are valid while the file's stamp is the same: every change shows in the stamp. */
  lasting: Uint8Array;
}

/** What is known of a file after examining both ends. */
export type FileSummary = EndsSummary & Pick<LogFileDetails, 'problem'>;

export interface FileDetailsDeps {
  /** Sorted by name. */
  list(): Promise<SeenFile[]>;
  /** The logs that such a listing contains, by its names. */
  families(names: readonly string[]): Promise<RotatedFamilies>;
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
  #last: Described = { files: [], details: [], lasting: new Uint8Array() };
  #findingEnds = NO_WORK;
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
    const listedMs = Date.now(); // clock: compared with times of the file system
    const next: Described = { files, details: new Array(files.length), lasting: new Uint8Array(files.length) };
    const { plain, others } = await this.#takeKnown(next);
    // Worker threads examine files meanwhile.
    const memberships = awaitedLater(this.#findMemberships(files));
    const note = async (index: number, summary: FileSummary) => {
      noteFile(next, index, summary, { memberships: await memberships, listedMs });
    };
    const rest = [...others, ...(await this.#describeMany(next, plain, { memberships, listedMs }))];
    for (const index of rest) await note(index, await this.#deps.describe(files[index]?.name ?? ''));
    await applyMemberships(next, await memberships);
    this.#takeEnds(next);
    this.#last = next;
    for (const index of others) this.#findEndLater(files[index]);
    return next.details;
  }

  /** Takes over what is known of files that have not changed. Returns the positions of the others. */
  async #takeKnown({ files, details, lasting }: Described): Promise<Record<'plain' | 'others', number[]>> {
    const rest: Record<'plain' | 'others', number[]> = { plain: [], others: [] };
    const { files: before, details: known, lasting: isLasting } = this.#last;
    let at = 0;
    for (const [index, file] of files.entries()) {
      while ((before[at]?.name ?? file.name) < file.name) at++;
      const isKnown = before[at]?.name === file.name && isLasting[at] && before[at]?.stats.hasSameStamp(file.stats);
      const found = isKnown ? known[at] : undefined;
      if (before[at]?.name === file.name) at++;
      if (found) {
        details[index] = found;
        lasting[index] = 1;
      } else rest[isPlain(file) ? 'plain' : 'others'].push(index);
      if (isTurnEnd(index)) await nextTurn();
    }
    return rest;
  }

  /** Takes over the last times that were found while this listing was made. */
  #takeEnds({ files, details }: Described): void {
    for (const [index, { name, stats }] of files.entries()) {
      const known = details[index];
      if (!known?.compressed || known.lastTimeMs !== null) continue;
      const at = findName(this.#last.files, name, (file) => file.name);
      const lastTimeMs = this.#last.details[at]?.lastTimeMs ?? null;
      const isSame = this.#last.files[at]?.stats.hasSameStamp(stats) ?? false;
      if (isSame && lastTimeMs !== null) details[index] = { ...known, lastTimeMs };
    }
  }

  /** Has worker threads examine the plain files, if there are many. Returns the positions of those that remain. */
  async #describeMany(
    next: Described,
    plain: readonly number[],
    { memberships, listedMs }: { memberships: Promise<Memberships>; listedMs: number },
  ): Promise<number[]> {
    if (plain.length < MIN_MANY) return [...plain];
    const { describedAt } = await import('./describe-files.ts');
    const left: number[] = [];
    const noted: Promise<void>[] = [];
    let started = 0;
    const work = async () => {
      while (started < plain.length) {
        const some = plain.slice(started, started + FILES_PER_JOB);
        started += FILES_PER_JOB;
        const result = await this.#deps.describeMany(some.map((index) => next.files[index]?.name ?? ''));
        const note = (found: Memberships) => {
          for (const [at, index] of some.entries()) {
            const summary = describedAt(result, at);
            if (summary) noteFile(next, index, summary, { memberships: found, listedMs });
            else left.push(index);
          }
        };
        // The thread gets its next job in any case.
        noted.push(awaitedLater(memberships.then(note)));
      }
    };
    await Promise.all(Array.from({ length: JOBS_AT_ONCE }, work));
    await Promise.all(noted);
    return left;
  }

  /** The memberships of all files except single-file logs. A link to another log has the membership of the file it leads to. */
  async #findMemberships(files: readonly SeenFile[]): Promise<Memberships> {
    const { families, memberships } = await this.#deps.families(files.map(({ name }) => name));
    const targets = findLinkTargets(files);
    if (targets.size === 0) return memberships;
    const found = new Map(memberships);
    for (const members of families.values()) {
      if (members.every((name) => targets.has(name))) for (const name of members) found.delete(name);
    }
    for (const [link, target] of targets) {
      if (!found.has(link)) found.set(link, found.get(target) ?? { family: target, state: 'live' });
    }
    return found;
  }

  /**
   * The last time of a compressed file is determined in the background, one file at a time: all of it must be
   * decompressed.
   */
  #findEndLater(file: SeenFile | undefined): void {
    if (!file || !isCompressedName(file.name) || file.size === 0 || file.size > MAX_UNPACKED_BYTES) return;
    const { name, stats } = file;
    const findIndex = () => {
      const index = findName(this.#last.files, name, (other) => other.name);
      const isSame = this.#last.files[index]?.stats.hasSameStamp(stats) && !this.#closed;
      return isSame && this.#last.details[index]?.problem === null ? index : -1;
    };
    const find = async () => {
      const lastTimeMs = findIndex() >= 0 ? await this.#deps.lastTime(name) : null;
      const index = findIndex();
      const details = this.#last.details[index];
      if (details && lastTimeMs !== null) this.#last.details[index] = { ...details, lastTimeMs };
    };
    // Nobody waits for a background lookup: a file that was deleted or is damaged has no last time, and whoever reads it
    // gets the error.
    this.#findingEnds = unneeded(this.#findingEnds.then(find));
  }
}

type Memberships = RotatedFamilies['memberships'];

function noteFile(
  { files, details, lasting }: Described,
  index: number,
  summary: FileSummary,
  { memberships, listedMs }: { memberships: Memberships; listedMs: number },
): void {
  const file = files[index];
  if (!file) return;
  const { name, size, stats } = file;
  const compressed = isCompressedName(name);
  const { mtimeNs: modifiedNs, ctimeNs: changedNs } = stats;
  const { family, state } = memberships.get(name) ?? { family: name, state: 'live' };
  // No object spread: there may be 100,000 of these.
  details[index] = {
    name,
    size,
    modifiedMs: Number(modifiedNs / 1_000_000n),
    compressed,
    format: summary.format,
    firstTimeMs: summary.firstTimeMs,
    lastTimeMs: summary.lastTimeMs,
    problem: summary.problem,
    family,
    state,
  };
  // A failure may be temporary without the file changing. An archive is written once: the last time of its text, which
  // takes long to find, is kept even in the first seconds.
  const isLasting = summary.problem === null && (compressed || isSettled({ modifiedNs, changedNs }, listedMs));
  lasting[index] = isLasting ? 1 : 0;
}

/** The family depends on all names, so it may change while the file does not. */
async function applyMemberships({ details }: Described, memberships: Memberships): Promise<void> {
  for (const [index, known] of details.entries()) {
    const { family, state } = memberships.get(known.name) ?? { family: known.name, state: 'live' };
    if (known.family !== family || known.state !== state) details[index] = { ...known, family, state };
    if (isTurnEnd(index)) await nextTurn();
  }
}

/** A name that is not UTF-8 on disk cannot be opened as shown; a link must be verified to stay inside the directory. */
function isPlain({ name, isLink }: SeenFile): boolean {
  // A file in a directory below is opened with the checks of its path.
  return !isLink && !isCompressedName(name) && !name.includes('\uFFFD') && !name.includes('/');
}

function isTurnEnd(index: number): boolean {
  return index % FILES_PER_TURN === FILES_PER_TURN - 1;
}
