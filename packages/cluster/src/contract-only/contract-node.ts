import {
  type CallOptions,
  type FileRequest,
  type NodeConfig,
  type NodeDescription,
  type NodeSettings,
  type NodeState,
  PortholeError,
  type SearchOptions,
  type ViewRequest,
} from '@porthole/contract';
import { groupFamilies, Scrubbing, type WorkerPool, type Zone } from '@porthole/logs';
import type {
  ByteAnswer,
  Digest,
  DigestQuery,
  FileProblem,
  FollowItem,
  FollowQuery,
  Histogram,
  HistogramQuery,
  LogEntry,
  LogFileDetails,
  LogSelection,
  OpenLog,
  RecordFilter,
  SearchEnd,
  SearchItem,
  SearchQuery,
} from '@porthole/logs/types';
import { viewFailure } from './fetch-tail.ts';
import { followTails } from './follow-tails.ts';
import { type MirrorDir, nameOnNode } from './mirror-dir.ts';
import type { TailLimits } from './plan-files.ts';
import { TailMirror } from './tail-mirror.ts';

/** The three operations of the contract. */
export type ContractState = Pick<NodeState, 'config' | 'listLogs' | 'viewLog'>;

export interface ContractNodeOptions {
  node: ContractState;
  /** Where the files it searches are read from, as they are; `node` unless given. */
  tails?: Pick<NodeState, 'listLogs' | 'viewLog'>;
  /** What is masked in their text; nothing unless given. */
  scrubbing?: Scrubbing;
  /** In which the node writes its times: it does not say. */
  zone: Zone;
  limits?: Partial<TailLimits>;
  /** That scan; closed by whoever made them, after this. */
  threads: WorkerPool;
  /** How often a followed node is asked what is new; a second unless given. */
  pollMs?: number;
  /** What was listed so lately is not listed again; half a second unless given. */
  freshMs?: number;
}

/** Some ten thousand records of each file; 32 files of that length, or more that are shorter. */
const LIMITS: TailLimits = {
  tailBytes: 1024 ** 2,
  maxTotalBytes: 32 * 1024 ** 2,
  maxFiles: 500,
  maxFileBytes: 16 * 1024 ** 2,
};

/** A page of a console asks several questions at once: they share a list. */
const FRESH_MS = 500;

type Asked = LogSelection & Pick<RecordFilter, 'fromMs' | 'toMs'> & Partial<Pick<SearchQuery, 'order' | 'start'>>;
type EndFacts = Omit<SearchEnd, 'type' | 'cursor'>;

/**
 * A node that only speaks the contract, with every question about its records answered from the newest part of its
 * files. What is missing is said at the end of each response: `limits`, `problems`, and times that are covered.
 */
export class ContractNode implements NodeState {
  readonly #node: ContractState;
  readonly #zone: Zone;
  readonly #mirror: TailMirror;
  readonly #pollMs: number | undefined;

  constructor({ node, zone, limits = {}, threads, pollMs, freshMs = FRESH_MS, ...masking }: ContractNodeOptions) {
    const { tails = node, scrubbing = new Scrubbing() } = masking;
    this.#node = node;
    this.#pollMs = pollMs;
    this.#zone = zone;
    const merged = { ...LIMITS, ...limits };
    this.#mirror = new TailMirror({ node: tails, zone, limits: merged, threads, freshMs, scrubbing });
  }

  /** Ends what uses it and removes what was copied. */
  close(): Promise<void> {
    return this.#mirror.close();
  }

  config(options?: CallOptions): Promise<NodeConfig> {
    return this.#node.config(options);
  }

  listLogs(options?: CallOptions): Promise<LogEntry[]> {
    return this.#node.listLogs(options);
  }

  async viewLog(request: ViewRequest, options: CallOptions = {}): Promise<ByteAnswer> {
    try {
      return await this.#node.viewLog(request, options);
    } catch (error) {
      throw await viewFailure(this.#node, { file: request.file, error, ...options });
    }
  }

  describe(): Promise<NodeDescription> {
    return lacks('/api/v1/node');
  }

  settings(): Promise<NodeSettings> {
    return lacks('/api/v1/config/settings');
  }

  openLog(_request: FileRequest): Promise<OpenLog> {
    return lacks('/api/v1/log/raw');
  }

  /** A file as far as it is known here: offsets of records are offsets in it. The caller closes it. */
  async openTail({ file }: FileRequest, options: CallOptions = {}): Promise<OpenLog> {
    await this.#mirror.refresh({ file }, options);
    const { dir, release } = this.#mirror.use();
    try {
      const log = await dir.logs.open(file, options);
      return { ...log, read: log.read.bind(log), close: () => log.close().finally(release) };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Times are those of the part that is known. When a file was changed shows in its newest record, else it is 0: not known. */
  async logFiles(options: CallOptions = {}): Promise<LogFileDetails[]> {
    return this.#ask({}, options, async (dir) => {
      const known = new Map((await dir.logs.details(options)).map((file) => [file.name, file]));
      const problems = new Map(this.#mirror.problems.map(({ file, detail }) => [file, detail]));
      const families = groupFamilies(this.#mirror.listed.map(({ name }) => name));
      const sizes = new Map(this.#mirror.listed.map(({ name, size }) => [name, size]));
      return families.flatMap((family) =>
        family.files.map(({ name, state, compressed }): LogFileDetails => {
          const { format, firstTimeMs, lastTimeMs, problem } = known.get(name) ?? UNREAD;
          const why = problems.get(name) ?? problem;
          const times = { modifiedMs: lastTimeMs ?? 0, firstTimeMs, lastTimeMs };
          return {
            name,
            size: sizes.get(name) ?? 0,
            family: family.name,
            state,
            compressed,
            format,
            ...times,
            problem: why,
          };
        }),
      );
    });
  }

  async *searchLogs(query: SearchQuery, options: SearchOptions = {}): AsyncGenerator<SearchItem[], void, undefined> {
    yield* this.#stream(query, options, async function* (dir, fix) {
      for await (const items of dir.logs.search(query, options)) {
        const end = items.at(-1);
        yield end?.type === 'end' ? [...items.slice(0, -1), await fix(end)] : items;
      }
    });
  }

  async *searchLogLines(query: SearchQuery, options: SearchOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    yield* this.#stream(query, options, async function* (dir, fix) {
      let last: Buffer | undefined;
      for await (const lines of dir.logs.searchLines(query, options)) {
        if (last !== undefined) yield last;
        last = lines;
      }
      // The engine gives its end by itself, as the last piece.
      if (last !== undefined) yield Buffer.from(`${JSON.stringify(await fix(JSON.parse(last.toString())))}\n`);
    });
  }

  followLogs(query: FollowQuery, options: CallOptions = {}): AsyncIterable<FollowItem[]> {
    return followTails(this.#mirror, query, {
      ...options,
      ...(this.#pollMs !== undefined && { pollMs: this.#pollMs }),
    });
  }

  async logHistogram(query: HistogramQuery, options: SearchOptions = {}): Promise<Histogram> {
    return this.#ask(query, options, async (dir, fix) => {
      const histogram = await dir.logs.histogram(query, options);
      return { ...histogram, end: await fix(histogram.end) };
    });
  }

  async logDigest(query: DigestQuery, options: SearchOptions = {}): Promise<Digest> {
    return this.#ask(query, options, async (dir, fix) => {
      const digest = await dir.logs.digest(query, options);
      return { ...digest, end: await fix(digest.end) };
    });
  }

  async #ask<T>(asked: Asked, options: CallOptions, act: (dir: MirrorDir, fix: FixEnd) => Promise<T>): Promise<T> {
    const { dir, release } = await this.#open(asked, options);
    try {
      return await act(dir, (end) => this.#limited(end, { dir, asked }));
    } finally {
      release();
    }
  }

  async *#stream<T>(
    asked: Asked,
    options: CallOptions,
    act: (dir: MirrorDir, fix: FixEnd) => AsyncGenerator<T, void, undefined>,
  ): AsyncGenerator<T, void, undefined> {
    const { dir, release } = await this.#open(asked, options);
    try {
      yield* act(dir, (end) => this.#limited(end, { dir, asked }));
    } finally {
      release();
    }
  }

  async #open({ file, family }: Asked, options: CallOptions): Promise<{ dir: MirrorDir; release: () => void }> {
    const selection = { ...(file !== undefined && { file }), ...(family !== undefined && { family }) };
    await this.#mirror.refresh(selection, options);
    const problem = this.#mirror.problems.find((known) => known.file === file);
    if (problem !== undefined && !this.#mirror.files.has(problem.file)) throw asError(problem);
    return this.#mirror.use();
  }

  /** The end of a response with what this node could not read. */
  async #limited<E extends EndFacts>(end: E, { dir, asked }: { dir: MirrorDir; asked: Asked }): Promise<E> {
    const isAsked = this.#selected(asked);
    const problems = [...end.problems, ...this.#mirror.problems.filter(({ file }) => isAsked(file))].map((problem) => ({
      ...problem,
      file: nameOnNode(problem.file),
    }));
    const files = [...this.#mirror.files].filter(([name]) => isAsked(name));
    const cut = new Set(files.filter(([, { isWhole }]) => !isWhole).map(([name]) => name));
    if (cut.size === 0) return { ...end, problems };
    const details = (await dir.logs.details()).filter(({ name }) => cut.has(name));
    const begin = beginOf(details);
    const covered = coverage(end, { begin, asked, asOfMs: this.#mirror.asOfMs });
    return {
      ...end,
      problems,
      ...covered,
      ...(isLimited(end, { begin, asked }) && { limits: this.#limitsText(files) }),
    };
  }

  #limitsText(files: readonly (readonly [string, { heldBytes: number }])[]): string {
    const held = files.reduce((sum, [, { heldBytes }]) => sum + heldBytes, 0);
    const sizes = new Map(this.#mirror.listed.map(({ name, size }) => [name, size]));
    const total = files.reduce((sum, [name]) => sum + (sizes.get(name) ?? 0), 0);
    const count = files.length === 1 ? '1 file' : `${files.length} files`;
    return `served from the newest ${showBytes(held)} of ${showBytes(total)} in ${count}; times read in the zone ${this.#zone.name}`;
  }

  #selected({ file, family }: Asked): (name: string) => boolean {
    if (file !== undefined) return (name) => name === file;
    if (family === undefined) return () => true;
    const families = groupFamilies(this.#mirror.listed.map(({ name }) => name));
    const names = new Set(families.find(({ name }) => name === family)?.files.map(({ name }) => name));
    return (name) => names.has(name);
  }
}

type FixEnd = <E extends EndFacts>(end: E) => Promise<E>;

const UNREAD = {
  format: 'unreadable',
  firstTimeMs: null,
  lastTimeMs: null,
  problem: 'the node serves only the ends of its files, and this one was not read',
} as const;

interface LimitFacts {
  /** Of the part of all logs that is known. */
  begin: number;
  asked: Asked;
}

/** Nothing is known of the time before the latest beginning of a file that is not whole; one without times has none. */
function beginOf(details: readonly LogFileDetails[]): number {
  return details.reduce((latest, { firstTimeMs }) => Math.max(latest, firstTimeMs ?? Infinity), -Infinity);
}

/** Whether records may be missing. Not where none were wanted from before, or the newest were and there are more. */
function isLimited({ reason }: EndFacts, { begin, asked }: LimitFacts): boolean {
  const isNewestPage = asked.order === 'newest' && reason === 'limit';
  return !isNewestPage && begin > (asked.fromMs ?? -Infinity);
}

function coverage(
  end: EndFacts,
  { begin, asked, asOfMs }: LimitFacts & { asOfMs: number },
): Pick<EndFacts, 'coveredFromMs' | 'coveredToMs'> {
  const isAll = end.reason === 'exhausted' && asked.start === undefined;
  const fromMs = Math.max(begin, (isAll ? asked.fromMs : end.coveredFromMs) ?? -Infinity);
  const toMs = (isAll ? Math.min(asked.toMs ?? Infinity, Math.max(asOfMs, fromMs)) : end.coveredToMs) ?? -Infinity;
  const isCovered = Number.isFinite(fromMs) && Number.isFinite(toMs) && fromMs <= toMs;
  return isCovered ? { coveredFromMs: fromMs, coveredToMs: toMs } : { coveredFromMs: null, coveredToMs: null };
}

function asError({ code, detail }: FileProblem): PortholeError {
  return new PortholeError(code === 'LOG_FILE_NOT_FOUND' ? code : 'LOG_FILE_UNREADABLE', detail);
}

async function lacks(path: string): Promise<never> {
  throw new PortholeError('NOT_SUPPORTED', `the node has no ${path}: it only speaks the contract`);
}

function showBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [unit, scale] = bytes < 1024 ** 2 ? ['KiB', 1024] : ['MiB', 1024 ** 2];
  return `${(bytes / Number(scale)).toFixed(1)} ${unit}`;
}
