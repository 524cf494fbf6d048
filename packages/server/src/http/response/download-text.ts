import {
  type ClusterEnd,
  type ClusterRecord,
  type ClusterState,
  codeOf,
  type DownloadRequest,
  errorMessage,
  type MemberSelection,
} from '@porthole/contract';
import type { LogSelection } from '@porthole/logs/types';

/** Text is sent in pieces of this size. */
const PIECE_CHARACTERS = 64 * 1024;

/** Problems listed in the last line; the rest is counted. */
const MAX_NAMED = 20;

export interface DownloadOptions {
  signal: AbortSignal;
  /** Records per page. */
  maxRecords: number;
  /** Time budget of one page; the next one continues where it stopped. */
  budgetMs: number;
  client?: string | undefined;
}

/**
 * Every record of the sources, oldest first, as in its file, and a last line that says whether the download is complete.
 * An empty piece comes first, when all sources have accepted the request.
 */
export async function* downloadText(
  cluster: Pick<ClusterState, 'searchLogs'>,
  request: DownloadRequest,
  options: DownloadOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const account = new Account();
  const sources = request.sources.length === 0 ? [{}] : request.sources;
  const lanes = sources.map((source) => new Lane(readPages(cluster, { source, request, account }, options)));
  try {
    // All at once: if one is refused, the download is refused.
    await Promise.all(lanes.map((lane) => lane.fill()));
    yield Buffer.alloc(0);
    yield* mergedText(lanes, request, account);
  } finally {
    for (const lane of lanes) await lane.close();
  }
}

async function* mergedText(
  lanes: readonly Lane[],
  { withNode }: DownloadRequest,
  account: Account,
): AsyncGenerator<Uint8Array, void, undefined> {
  let text = '';
  try {
    for (;;) {
      let first: Lane | undefined;
      for (const lane of lanes) if (lane.head && lane.key < (first?.key ?? Infinity)) first = lane;
      const record = first?.head;
      if (!first || !record) break;
      if (account.isNew(record)) text += `${withNode ? `${record.node}:` : ''}${record.raw ?? record.message}\n`;
      if (text.length >= PIECE_CHARACTERS) {
        yield Buffer.from(text);
        text = '';
      }
      await first.step();
    }
  } catch (error) {
    account.fail(error);
  }
  yield Buffer.from(`${text}${account.lastLine()}`);
}

interface PageOptions {
  source: LogSelection & MemberSelection;
  request: DownloadRequest;
  account: Account;
}

async function* readPages(
  cluster: Pick<ClusterState, 'searchLogs'>,
  { source, request, account }: PageOptions,
  { signal, maxRecords, budgetMs, client = '' }: DownloadOptions,
): AsyncGenerator<ClusterRecord[], void, undefined> {
  const query = {
    ...source,
    ...request.filter,
    order: 'oldest',
    limit: maxRecords,
    before: 0,
    after: 0,
    raw: true,
  } as const;
  let start: { start?: { cursor: string } } = {};
  for (;;) {
    let end: ClusterEnd | undefined;
    for await (const items of cluster.searchLogs({ ...query, ...start }, { signal, budgetMs, client })) {
      const records = items.filter((item) => item.type === 'record');
      if (records.length > 0) yield records;
      end = items.find((item) => item.type === 'end') ?? end;
    }
    account.note(end);
    const cursor = end?.cursor ?? null;
    if (cursor === null) return;
    start = { start: { cursor } };
  }
}

/** The records of one source, in batches. A record without a timestamp, or out of order, stays behind the one before it. */
class Lane {
  key = -Infinity;
  readonly #pages: AsyncGenerator<ClusterRecord[], void, undefined>;
  #batch: ClusterRecord[] = [];
  #at = 0;

  constructor(pages: AsyncGenerator<ClusterRecord[], void, undefined>) {
    this.#pages = pages;
  }

  get head(): ClusterRecord | undefined {
    return this.#batch[this.#at];
  }

  async step(): Promise<void> {
    this.#at++;
    if (this.#at >= this.#batch.length) await this.fill();
    else this.#note();
  }

  async fill(): Promise<void> {
    const { value } = await this.#pages.next();
    this.#batch = value ?? [];
    this.#at = 0;
    this.#note();
  }

  async close(): Promise<void> {
    await this.#pages.return();
  }

  #note(): void {
    const { atMs } = this.head ?? {};
    if (atMs !== undefined) this.key = Math.max(this.key, atMs);
  }
}

/** Counts what was written, and collects what is missing. */
class Account {
  #records = 0;
  readonly #nodes = new Set<string>();
  readonly #missing = new Map<string, string>();
  readonly #leftOut = new Set<string>();
  #last: { atMs: number | undefined; keys: Set<string> } = { atMs: undefined, keys: new Set() };

  /** Sources may overlap: duplicates of a record have the same timestamp. */
  isNew({ node, file, offset, atMs }: ClusterRecord): boolean {
    if (atMs !== this.#last.atMs) this.#last = { atMs, keys: new Set() };
    const key = `${node}/${file}/${offset}`;
    if (this.#last.keys.has(key)) return false;
    this.#last.keys.add(key);
    this.#records++;
    return true;
  }

  note(end: ClusterEnd | undefined): void {
    if (end === undefined) {
      this.#missing.set('', 'the search ended without a coverage report');
      return;
    }
    for (const { id, outcome, detail, asOfMs } of end.members) {
      this.#nodes.add(id);
      if (outcome === 'ok' && asOfMs === null) continue;
      const asOf = asOfMs === null ? '' : `, snapshot as of ${new Date(asOfMs).toISOString()}`;
      this.#missing.set(id, `${id}: ${outcome}${detail === null ? '' : `: ${detail}`}${asOf}`);
    }
    for (const { node, file, code, detail } of end.problems ?? []) {
      if (code === 'LEFT_OUT') this.#leftOut.add(`${file} on ${node}`);
      else this.#missing.set(`${node}/${file}`, `${file} on ${node}: ${detail}`);
    }
  }

  fail(error: unknown): void {
    this.#missing.set('failure', `${codeOf(error)}: ${errorMessage(error)}`);
  }

  lastLine(): string {
    const missing = [...this.#missing.values()];
    const facts = [
      missing.length === 0 ? 'complete' : 'INCOMPLETE',
      `${this.#records} records`,
      `${this.#nodes.size} nodes`,
      ...missing.slice(0, MAX_NAMED),
      ...(missing.length > MAX_NAMED ? [`and ${missing.length - MAX_NAMED} more`] : []),
      ...(this.#leftOut.size === 0
        ? []
        : [`not included, being binary or without timestamps: ${[...this.#leftOut].slice(0, MAX_NAMED).join(', ')}`]),
    ];
    return `# porthole: ${facts.join(' · ').replace(/[\r\n]+/g, ' ')}\n`;
  }
}
