import { setImmediate as nextTurn } from 'node:timers/promises';
import { isSettled, stampOf } from '../file/file-stamp.ts';
import { SharedLook } from '../file/shared-look.ts';
import { isGzipName } from '../file/text-source.ts';
import type { LogEntry, LogFileDetails } from '../types.ts';
import type { SeenFile } from './list.ts';
import type { EndsLook } from './look-at-ends.ts';

/** Larger compressed files are not unpacked only to tell when they end. */
const MAX_UNPACKED_BYTES = 256 * 1024 ** 2;

/**
 * So many files and more are looked at by threads. They cost a tenth, but run at a low priority: fewer must not wait for them
 * on a busy machine.
 */
const MIN_MANY = 1000;

/** A thread looks at these in some milliseconds. */
const FILES_PER_JOB = 200;

/** Files looked at before others get their turn; ten jobs for threads. */
const FILES_PER_TURN = 2000;

interface Known {
  mark: string;
  details: LogFileDetails;
  isLasting: boolean;
}

/** What a look into a file tells. */
export type FileLook = EndsLook & Pick<LogFileDetails, 'problem'>;

export interface FileDetailsDeps {
  list(): Promise<SeenFile[]>;
  /** Looks into one file, whatever it is. */
  look(name: string): Promise<FileLook>;
  /** Looks into many plain files; `null` for those that `look` has to. */
  lookAtMany(names: readonly string[]): Promise<readonly (EndsLook | null)[]>;
  /** The last time in a compressed file, all of which must be unpacked for that. */
  lastTime(name: string): Promise<number | null>;
}

/** The listing with what a look at both ends of each file tells. Requests at the same time share it. */
export class FileDetails {
  readonly #deps: FileDetailsDeps;
  readonly #all: SharedLook<LogFileDetails[]>;
  /**
   * By name, valid while the file's stamp is the same; `isLasting` where every change shows in it. An archive is
   * written once: what its end tells, which takes long, is not given up for the first seconds.
   */
  readonly #known = new Map<string, Known>();
  #findingEnds: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(deps: FileDetailsDeps) {
    this.#deps = deps;
    this.#all = new SharedLook(() => this.#lookAtAll());
  }

  all(): Promise<LogFileDetails[]> {
    return this.#all.look('');
  }

  close(): void {
    this.#closed = true;
  }

  async #lookAtAll(): Promise<LogFileDetails[]> {
    const files = await this.#deps.list();
    const places = await placesOf(files);
    const answer: LogFileDetails[] = [];
    for (let first = 0; first < files.length; first += FILES_PER_TURN) {
      const some = files.slice(first, first + FILES_PER_TURN).map((file) => ({ file, known: this.#knownOf(file) }));
      const looks = await this.#lookIntoMany(some.flatMap(({ file, known }) => (known ? [] : [file])));
      for (const { file, known } of some) {
        const place = places.get(file.name) ?? { family: file.name, state: 'live' };
        const look = looks.get(file.name);
        // Not waited for where it is at hand: a turn of the event loop for each of many files is what takes the time.
        if (known) answer.push(placed(known, place));
        else if (look) answer.push(this.#note(file, { ...look, problem: null }, place));
        else answer.push(this.#note(file, await this.#deps.look(file.name), place));
      }
      await nextTurn();
    }
    const names = new Set(files.map(({ name }) => name));
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
    return answer;
  }

  /** Of those that are plain, where they are many; the others are looked at one after the other. */
  async #lookIntoMany(files: readonly SeenFile[]): Promise<ReadonlyMap<string, EndsLook>> {
    const names = files.filter(isPlain).map(({ name }) => name);
    const looks = new Map<string, EndsLook>();
    if (names.length < MIN_MANY) return looks;
    const look = async (some: readonly string[]) => {
      for (const [index, found] of (await this.#deps.lookAtMany(some)).entries()) {
        const name = some[index];
        if (found && name !== undefined) looks.set(name, found);
      }
    };
    await Promise.all(chunksOf(names, FILES_PER_JOB).map(look));
    return looks;
  }

  #knownOf({ name, size, stats }: SeenFile): Known | undefined {
    const known = this.#known.get(name);
    return known?.isLasting && known.mark === stampOf(stampedOf({ size, stats })) ? known : undefined;
  }

  #note({ name, size, stats }: SeenFile, look: FileLook, place: Place): LogFileDetails {
    const compressed = isGzipName(name);
    const details = { name, size, modifiedMs: Number(stats.mtimeNs / 1_000_000n), compressed, ...look, ...place };
    // A failure may pass without the file changing, so it is not remembered.
    if (details.problem !== null) return details;
    const stamped = stampedOf({ size, stats });
    const mark = stampOf(stamped);
    this.#known.set(name, { mark, details, isLasting: isSettled(stamped) || compressed });
    if (compressed && size > 0 && size <= MAX_UNPACKED_BYTES) this.#findEndLater(name, mark);
    return details;
  }

  /** The end of a compressed file is looked for in the background, one file at a time: all of it must be unpacked. */
  #findEndLater(name: string, mark: string): void {
    const find = async () => {
      const known = this.#known.get(name);
      const lastTimeMs = known?.mark === mark && !this.#closed ? await this.#deps.lastTime(name) : null;
      if (known && lastTimeMs !== null) known.details = { ...known.details, lastTimeMs };
    };
    // A file that has gone or is damaged keeps its end to itself.
    this.#findingEnds = this.#findingEnds.then(find).catch(() => {});
  }
}

type Place = Pick<LogFileDetails, 'family' | 'state'>;

/** All names together tell the family, so it may have changed while the file has not. */
function placed(known: Known, { family, state }: Place): LogFileDetails {
  const { details } = known;
  if (details.family !== family || details.state !== state) known.details = { ...details, family, state };
  return known.details;
}

async function placesOf(files: readonly LogEntry[]): Promise<ReadonlyMap<string, Place>> {
  const { groupFamilies } = await import('../file/families.ts');
  const places = new Map<string, Place>();
  for (const { name: family, files: members } of groupFamilies(files.map(({ name }) => name))) {
    for (const { name, state } of members) places.set(name, { family, state });
  }
  return places;
}

/** A name that is not UTF-8 on disk leads nowhere as it is shown; a link must be proven to stay inside. */
function isPlain({ name, isLink }: SeenFile): boolean {
  return !isLink && !isGzipName(name) && !name.includes('\uFFFD');
}

function stampedOf({ size, stats }: Pick<SeenFile, 'size' | 'stats'>) {
  const { dev, ino, mtimeNs: modifiedNs, ctimeNs: changedNs } = stats;
  return { dev, ino, sizeBytes: size, modifiedNs, changedNs };
}

function chunksOf(names: readonly string[], most: number): string[][] {
  return Array.from({ length: Math.ceil(names.length / most) }, (_, chunk) =>
    names.slice(chunk * most, (chunk + 1) * most),
  );
}
