import { readFileSync } from 'node:fs';
import { isSystemError, LogError } from '../log-error.ts';
import { ONCE, Shared } from '../shared.ts';
import type { FileProblem, FollowItem, FollowQuery, LogSelection } from '../types.ts';
import type { CountingOptions, FollowHub, FollowHubDeps, FollowUsage } from './follow-hub.ts';

/** The hub, loaded with the first follow: it is a third of the engine's code, and most programs that search follow nothing. */
export class LazyFollowHub {
  readonly #deps: FollowHubDeps;
  readonly #hub = new Shared<FollowHub>(ONCE);
  #loaded: FollowHub | undefined;
  #isClosed = false;

  constructor(deps: FollowHubDeps) {
    this.#deps = deps;
  }

  get usage(): FollowUsage {
    return this.#loaded?.usage ?? { readers: 0, watchers: 0, openFiles: 0 };
  }

  /** See `FollowHub`. */
  async *follow(query: FollowQuery, options: CountingOptions): AsyncGenerator<FollowItem[], void, undefined> {
    yield* (await this.#load()).follow(query, options);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#hub.last())?.close();
  }

  #load(): Promise<FollowHub> {
    return this.#hub.run(async () => {
      const module = await import('./follow-hub.ts');
      this.#loaded = new module.FollowHub(this.#deps);
      if (this.#isClosed) await this.#loaded.close();
      return this.#loaded;
    });
  }
}

/**
 * A follow of logs of which some may get no new records now: refused if they were selected by name, reported after the
 * first batch otherwise. A log that is only behind gets its records soon.
 */
export function reportUnavailable(
  problems: readonly FileProblem[],
  selection: LogSelection,
  batches: AsyncGenerator<FollowItem[], void, undefined>,
): AsyncGenerator<FollowItem[], void, undefined> {
  const unavailable = problems.filter(({ code }) => code === 'JOURNAL_UNAVAILABLE');
  return unavailable.length === 0 ? batches : reportFirst(unavailable, selection, batches);
}

async function* reportFirst(
  unavailable: readonly FileProblem[],
  { src = [] }: LogSelection,
  batches: AsyncGenerator<FollowItem[], void, undefined>,
): AsyncGenerator<FollowItem[], void, undefined> {
  const [first] = unavailable;
  if (first && src.length > 0) throw new LogError('JOURNAL_UNAVAILABLE', first.detail);
  let isReported = false;
  for await (const items of batches) {
    yield items;
    if (isReported) continue;
    isReported = true;
    yield unavailable.map((problem) => ({ type: 'skipped', count: 1, detail: `${problem.file}: ${problem.detail}` }));
  }
}

/** Logs followed at the same time, unless `follow.max-logs` is set. */
const MAX_LOGS = 2000;

/** Descriptors reserved for connections, searches and everything else, unless the caller knows better. */
const RESERVED_FILES = 384;

/** A rotated log keeps its old file open for some seconds. */
const FILES_PER_LOG = 2;

interface FollowLimitOptions {
  /** Setting `follow.max-logs`. */
  maxLogs?: number | undefined;
  /** Descriptors not available to follows. */
  reservedFiles?: number | undefined;
}

/** How many logs may be followed at the same time, and the reason reported for those left out. */
export interface FollowLimit {
  most: number;
  reason: string;
}

/** The smaller of the setting and what the process' limit on open files leaves room for. */
export function followLimit(
  { maxLogs = MAX_LOGS, reservedFiles = RESERVED_FILES }: FollowLimitOptions,
  maxOpenFiles = readMaxOpenFiles(),
): FollowLimit {
  const fitting = Math.max(1, Math.floor((maxOpenFiles - reservedFiles) / FILES_PER_LOG));
  if (maxLogs <= fitting)
    return { most: maxLogs, reason: `follow.max-logs = ${maxLogs} is reached; raise it or follow them by name` };
  return {
    most: fitting,
    reason: `the process may open ${maxOpenFiles} files, enough for ${fitting} logs; raise "ulimit -n" or follow them by name`,
  };
}

/** Linux has it in /proc; elsewhere the limit is unknown. */
function readMaxOpenFiles(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return Number.POSITIVE_INFINITY;
  }
}
