import {
  type ClusterEnd,
  type ClusterState,
  codeOf,
  coverageOf,
  type DownloadRequest,
  errorMessage,
  isRest,
  type MemberSelection,
  missingText,
} from '@porthole/contract';
import type { LogSelection } from '@porthole/logs/types';
import {
  bytesOf,
  EMPTY_BATCH,
  isBatch,
  type MergedRun,
  mergeByTime,
  type Origin,
  originAt,
  type RecordBatch,
  renderText,
} from '@porthole/records';

/** What is needed of a cluster to search it. */
type SearchedCluster = Pick<ClusterState, 'search'>;

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
  const sources = request.sources.length === 0 ? [{}] : request.sources;
  const lanes = sources.map((source) => readPages(cluster, { source, request, account }, options));
  try {
    // All at once: if one is refused, the download is refused.
    await Promise.all(lanes.map((lane) => lane.next()));
    yield Buffer.alloc(0);
    yield* mergedText(lanes, account);
  } finally {
    for (const lane of lanes) await lane.return();
  }
}

async function* mergedText(
  lanes: readonly AsyncGenerator<RecordBatch, void, undefined>[],
  account: Account,
): AsyncGenerator<Uint8Array, void, undefined> {
  const piece = new Piece();
  try {
    for await (const runs of mergeByTime(lanes, { order: 'oldest' })) {
      for (const text of newTexts(runs, account)) {
        // Long texts are not copied.
        if (piece.fits(text)) piece.add(text);
        else {
          if (piece.length > 0) yield piece.take();
          if (text.length > PIECE_BYTES / 2) yield text;
          else piece.add(text);
        }
      }
    }
  } catch (error) {
    account.fail(error);
  }
  if (piece.length > 0) yield piece.take();
  yield Buffer.from(account.lastLine());
}

/** The texts of records that no other source had. */
function* newTexts(runs: readonly MergedRun<RecordBatch>[], account: Account): Generator<Uint8Array, void, undefined> {
  for (const { batch, from, to } of runs) {
    let first = from;
    for (let index = from; index < to; index++) {
      if (account.isNew(batch, index)) continue;
      if (index > first) yield bytesOf(batch, first, index);
      first = index + 1;
    }
    if (to > first) yield bytesOf(batch, first, to);
  }
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
}

/** The text of the records of one source; an empty batch first, when the request has been accepted. */
async function* readPages(
  cluster: SearchedCluster,
  { source, request, account }: PageOptions,
  { signal, maxRecords, budgetMs, client = '' }: DownloadOptions,
): AsyncGenerator<RecordBatch, void, undefined> {
  const query = {
    ...source,
    ...request.filter,
    order: 'oldest',
    limit: maxRecords,
    before: 0,
    after: 0,
    raw: true,
  } as const;
  const layout = request.withNode ? 'node and raw' : 'raw';
  const options = { signal, budgetMs, client, reusesMemory: true, onlyRaw: true };
  let start: { start?: { cursor: string } } = {};
  let isAccepted = false;
  for (;;) {
    let end: ClusterEnd | undefined;
    for await (const item of cluster.search({ ...query, ...start }, options)) {
      // Whatever comes first: the batch that says so has no records that could be taken for nothing.
      if (!isAccepted) yield EMPTY_BATCH;
      isAccepted = true;
      if (isBatch(item)) yield renderText(item, layout);
      else end = item;
    }
    account.note(end);
    const cursor = end?.cursor ?? null;
    if (cursor === null) return;
    start = { start: { cursor } };
  }
}

/** Counts what was written, and collects what is missing. */
class Account {
  #records = 0;
  readonly #nodes = new Set<string>();
  readonly #missing = new Map<string, string>();
  readonly #leftOut = new Set<string>();
  readonly #recent = new RecentRecords();

  /** Sources may overlap: duplicates of a record have the same timestamp. */
  isNew(batch: RecordBatch, index: number): boolean {
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
    for (const { node, file, code } of end.problems) if (code === 'LEFT_OUT') this.#leftOut.add(`${file} on ${node}`);
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
  #origin: Origin = { file: '' };
  readonly #offsets: number[] = [];
  #keys: Set<string> | undefined;

  /** Whether it is not one of them. */
  add(batch: RecordBatch, index: number): boolean {
    const timeMs = batch.times[index] as number;
    const offset = batch.offsets[index] as number;
    const origin = originAt(batch, index);
    const isSameTime = timeMs === this.#timeMs || (Number.isNaN(timeMs) && Number.isNaN(this.#timeMs));
    if (!isSameTime || (this.#offsets.length === 0 && this.#keys === undefined)) {
      this.#timeMs = timeMs;
      this.#origin = origin;
      // Used again: most records have a time of their own.
      this.#offsets.length = 0;
      this.#offsets.push(offset);
      this.#keys = undefined;
      return true;
    }
    const isSameFile = origin.file === this.#origin.file && origin.node === this.#origin.node;
    if (this.#keys === undefined && isSameFile && offset > (this.#offsets.at(-1) as number)) {
      this.#offsets.push(offset);
      return true;
    }
    this.#keys ??= new Set(this.#offsets.map((each) => keyOf(this.#origin, each)));
    const key = keyOf(origin, offset);
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    return true;
  }
}

function keyOf({ node = '', file }: Origin, offset: number): string {
  return `${node}/${file}/${offset}`;
}
