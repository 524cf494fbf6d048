import {
  type ClusterEnd,
  codeOf,
  coverageOf,
  type DownloadRequest,
  errorMessage,
  isRest,
  type MemberSelection,
  missingText,
} from '@porthole/contract';
import { LineTextKernel } from '@porthole/logs';
import type { LogSelection } from '@porthole/logs/types';
import { clusterLines, type SearchedCluster, type TextBatch, TextReader } from '../../records/cluster-lines.ts';

/** Text is sent in pieces of this size, or of what came at once. */
const PIECE_BYTES = 64 * 1024;

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
 * An empty piece comes first, when all sources have accepted the request. The memory of a piece is used again when the
 * next one is requested.
 */
export async function* downloadText(
  cluster: SearchedCluster,
  request: DownloadRequest,
  options: DownloadOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const account = new Account();
  const kernel = new LineTextKernel();
  const sources = request.sources.length === 0 ? [{}] : request.sources;
  const lanes = sources.map(
    (source, index) => new Lane(index, readPages(cluster, { source, request, account, kernel }, options)),
  );
  try {
    // All at once: if one is refused, the download is refused.
    await Promise.all(lanes.map((lane) => lane.fill()));
    yield Buffer.alloc(0);
    yield* mergedText(lanes, account);
  } finally {
    for (const lane of lanes) await lane.close();
  }
}

async function* mergedText(lanes: readonly Lane[], account: Account): AsyncGenerator<Uint8Array, void, undefined> {
  const piece = new Piece();
  try {
    for (let first = earliest(lanes); first; first = earliest(lanes)) {
      const second = earliest(lanes, first);
      for (const text of first.takeUntil(second, account)) {
        // Long texts are not copied.
        if (piece.fits(text)) piece.add(text);
        else {
          if (piece.length > 0) yield piece.take();
          if (text.length > PIECE_BYTES / 2) yield text;
          else piece.add(text);
        }
      }
      if (!first.hasNext) await first.fill();
    }
  } catch (error) {
    account.fail(error);
  }
  if (piece.length > 0) yield piece.take();
  yield Buffer.from(account.lastLine());
}

/** Texts that are sent at once. */
class Piece {
  length = 0;
  readonly #room = Buffer.allocUnsafeSlow(PIECE_BYTES);

  fits(text: Uint8Array): boolean {
    return text.length <= PIECE_BYTES / 2 && this.length + text.length <= PIECE_BYTES;
  }

  add(text: Uint8Array): void {
    this.#room.set(text, this.length);
    this.length += text.length;
  }

  /** All that was added; until the next is added. */
  take(): Uint8Array {
    const all = this.#room.subarray(0, this.length);
    this.length = 0;
    return all;
  }
}

interface PageOptions {
  source: LogSelection & MemberSelection;
  request: DownloadRequest;
  account: Account;
  kernel: LineTextKernel;
}

async function* readPages(
  cluster: SearchedCluster,
  { source, request, account, kernel }: PageOptions,
  { signal, maxRecords, budgetMs, client = '' }: DownloadOptions,
): AsyncGenerator<TextBatch, void, undefined> {
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
    const reader = new TextReader(kernel, request.withNode ? 'node and raw' : 'raw');
    const options = { signal, budgetMs, client, reusesMemory: true, onlyRaw: true };
    for await (const piece of clusterLines(cluster, { ...query, ...start }, options)) yield* reader.read(piece);
    const { end } = reader;
    account.note(end);
    const cursor = end?.cursor ?? null;
    if (cursor === null) return;
    start = { start: { cursor } };
  }
}

/** The records of one source, in batches. A record without a timestamp, or out of order, stays behind the one before it. */
class Lane {
  key = -Infinity;
  readonly index: number;
  readonly #batches: AsyncGenerator<TextBatch, void, undefined>;
  #batch: TextBatch = NOTHING;
  #at = 0;

  constructor(index: number, batches: AsyncGenerator<TextBatch, void, undefined>) {
    this.index = index;
    this.#batches = batches;
  }

  get hasNext(): boolean {
    return this.#at < this.#batch.ends.length;
  }

  /** The texts of the records that come before those of the other lane, as far as they are here. */
  *takeUntil(other: Lane | undefined, account: Account): Generator<Uint8Array, void, undefined> {
    const { text, ends } = this.#batch;
    let start = this.#at === 0 ? 0 : (ends[this.#at - 1] as number);
    let end = start;
    do {
      const isNew = account.isNew(this.#batch, this.#at);
      if (isNew) end = ends[this.#at] as number;
      else {
        if (end > start) yield text.subarray(start, end);
        start = ends[this.#at] as number;
        end = start;
      }
      this.#at++;
      this.#note();
    } while (this.hasNext && (other === undefined || isBefore(this, other)));
    if (end > start) yield text.subarray(start, end);
  }

  async fill(): Promise<void> {
    const { value } = await this.#batches.next();
    this.#batch = value ?? NOTHING;
    this.#at = 0;
    this.#note();
  }

  async close(): Promise<void> {
    await this.#batches.return();
  }

  #note(): void {
    const atMs = this.#batch.times[this.#at] ?? Number.NaN;
    if (atMs > this.key) this.key = atMs;
  }
}

const NOTHING: TextBatch = { text: Buffer.alloc(0), ends: [], times: [], offsets: [], sources: [] };

/** The lane with the earliest record, but for one. */
function earliest(lanes: readonly Lane[], except?: Lane): Lane | undefined {
  let first: Lane | undefined;
  for (const lane of lanes)
    if (lane !== except && lane.hasNext && (first === undefined || isBefore(lane, first))) first = lane;
  return first;
}

function isBefore(a: Lane, b: Lane): boolean {
  return a.key < b.key || (a.key === b.key && a.index < b.index);
}

/** Counts what was written, and collects what is missing. */
class Account {
  #records = 0;
  readonly #nodes = new Set<string>();
  readonly #missing = new Map<string, string>();
  readonly #leftOut = new Set<string>();
  readonly #recent = new RecentRecords();

  /** Sources may overlap: duplicates of a record have the same timestamp. */
  isNew(batch: TextBatch, index: number): boolean {
    const isNew = this.#recent.add(batch, index);
    if (isNew) this.#records++;
    return isNew;
  }

  note(end: ClusterEnd | undefined): void {
    if (end === undefined) {
      this.#missing.set('', 'the search ended without a coverage report');
      return;
    }
    for (const { id } of end.members) this.#nodes.add(id);
    for (const part of coverageOf(end).missing) {
      // Page after page is read.
      const text = missingText(part);
      if (!isRest(part)) this.#missing.set(text, text);
    }
    for (const { node, file, code } of end.problems ?? [])
      if (code === 'LEFT_OUT') this.#leftOut.add(`${file} on ${node}`);
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

/** The records with the timestamp of the last one. */
class RecentRecords {
  #timeMs = Number.NaN;
  /** As long as they are of one file, in its order: each of them is new. */
  #source = '';
  readonly #offsets: number[] = [];
  #keys: Set<string> | undefined;

  /** Whether it is not one of them. */
  add({ times, sources, offsets }: TextBatch, index: number): boolean {
    const timeMs = times[index] as number;
    const source = sources[index] as string;
    const offset = offsets[index] as number;
    const isSameTime = timeMs === this.#timeMs || (Number.isNaN(timeMs) && Number.isNaN(this.#timeMs));
    if (!isSameTime || (this.#offsets.length === 0 && this.#keys === undefined)) {
      this.#timeMs = timeMs;
      this.#source = source;
      // Used again: most records have a time of their own.
      this.#offsets.length = 0;
      this.#offsets.push(offset);
      this.#keys = undefined;
      return true;
    }
    if (this.#keys === undefined && source === this.#source && offset > (this.#offsets.at(-1) as number)) {
      this.#offsets.push(offset);
      return true;
    }
    this.#keys ??= new Set(this.#offsets.map((each) => `${this.#source}/${each}`));
    const key = `${source}/${offset}`;
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    return true;
  }
}
