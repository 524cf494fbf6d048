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
import { Scrubbing, type WorkerPool, type Zone } from '@porthole/logs';
import type {
  ByteStream,
  Digest,
  DigestQuery,
  FileProblem,
  FollowItem,
  FollowQuery,
  Histogram,
  HistogramQuery,
  LogEntry,
  LogFileDetails,
  OpenLog,
  SearchItem,
  SearchQuery,
} from '@porthole/logs/types';
import { type TailNode, viewFailure } from './fetch-tail.ts';
import { followTails } from './follow-tails.ts';
import { type EndFacts, limitEnd, type TailQuery } from './limit-end.ts';
import type { MirrorDir } from './mirror-dir.ts';
import type { TailLimits } from './plan-files.ts';
import { tailDetails } from './tail-details.ts';
import { TailMirror } from './tail-mirror.ts';

/** The three operations of the contract. */
export type ContractState = Pick<NodeState, 'config' | 'listLogs' | 'viewLog'>;

export interface ContractNodeOptions {
  node: ContractState;
  /** Where the files it searches are read from, as they are; `node` unless given. */
  tails?: TailNode;
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

  async viewLog(request: ViewRequest, options: CallOptions = {}): Promise<ByteStream> {
    try {
      return await this.#node.viewLog(request, options);
    } catch (error) {
      throw await viewFailure(this.#node, { file: request.file, error, ...options });
    }
  }

  describe(): Promise<NodeDescription> {
    return notSupported('/api/v1/node');
  }

  settings(): Promise<NodeSettings> {
    return notSupported('/api/v1/config/settings');
  }

  openLog(_request: FileRequest): Promise<OpenLog> {
    return notSupported('/api/v1/log/raw');
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

  /** Times are those of the part that is known. */
  async logFiles(options: CallOptions = {}): Promise<LogFileDetails[]> {
    return this.#run({}, options, (dir) => tailDetails(this.#mirror, dir, options));
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
    return this.#run(query, options, async (dir, fix) => {
      const histogram = await dir.logs.histogram(query, options);
      return { ...histogram, end: await fix(histogram.end) };
    });
  }

  async logDigest(query: DigestQuery, options: SearchOptions = {}): Promise<Digest> {
    return this.#run(query, options, async (dir, fix) => {
      const digest = await dir.logs.digest(query, options);
      return { ...digest, end: await fix(digest.end) };
    });
  }

  async #run<T>(query: TailQuery, options: CallOptions, act: (dir: MirrorDir, fix: FixEnd) => Promise<T>): Promise<T> {
    const { dir, release } = await this.#open(query, options);
    try {
      return await act(dir, this.#fixEnd(dir, query));
    } finally {
      release();
    }
  }

  async *#stream<T>(
    query: TailQuery,
    options: CallOptions,
    act: (dir: MirrorDir, fix: FixEnd) => AsyncGenerator<T, void, undefined>,
  ): AsyncGenerator<T, void, undefined> {
    const { dir, release } = await this.#open(query, options);
    try {
      yield* act(dir, this.#fixEnd(dir, query));
    } finally {
      release();
    }
  }

  async #open({ file, family }: TailQuery, options: CallOptions): Promise<{ dir: MirrorDir; release: () => void }> {
    const selection = { ...(file !== undefined && { file }), ...(family !== undefined && { family }) };
    await this.#mirror.refresh(selection, options);
    const problem = this.#mirror.problems.find((known) => known.file === file);
    if (problem !== undefined && !this.#mirror.files.has(problem.file)) throw toError(problem);
    return this.#mirror.use();
  }

  #fixEnd(dir: MirrorDir, query: TailQuery): FixEnd {
    return (end) => limitEnd(end, { mirror: this.#mirror, dir, query, zoneName: this.#zone.name });
  }
}

type FixEnd = <E extends EndFacts>(end: E) => Promise<E>;

function toError({ code, detail }: FileProblem): PortholeError {
  return new PortholeError(code === 'LOG_FILE_NOT_FOUND' ? code : 'LOG_FILE_UNREADABLE', detail);
}

async function notSupported(path: string): Promise<never> {
  throw new PortholeError('NOT_SUPPORTED', `the node has no ${path}: it only speaks the contract`);
}
