import { PortholeError } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs';
import { EXIT } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import type { RecordStyle } from '../output/format-record.ts';
import { Progress } from '../output/progress.ts';
import type { LogSource, LogState, PrintableRecord } from '../sources/log-source.ts';
import type { Lane, SourcedRecord } from './merge-records.ts';
import { Receipt } from './receipt.ts';
import { RecordPrinter } from './record-printer.ts';

/** On a terminal a long search runs in slices, each of which reports progress. */
const SLICE_MS = 500;

export interface RunOptions {
  style: RecordStyle;
  hasContext: boolean;
  signal: AbortSignal;
}

/** Runs the queries of one command line, prints the records and determines the exit code. */
export class RecordRun {
  readonly receipt = new Receipt();
  readonly #invocation: Invocation;
  readonly #signal: AbortSignal;
  readonly #printer: RecordPrinter;
  readonly #progress: Progress;
  #count = 0;

  constructor(invocation: Invocation, { style, hasContext, signal }: RunOptions) {
    const { terminal } = invocation;
    this.#invocation = invocation;
    this.#signal = signal;
    this.#progress = new Progress(terminal, () => `${this.receipt}, ${this.#count} found; Ctrl-C to stop`);
    const { receipt } = this;
    this.#printer = new RecordPrinter(terminal, { style, hasContext, signal, progress: this.#progress, receipt });
  }

  /** The matching records of one source, at most `count`. */
  lane(source: LogSource, query: Omit<SearchQuery, 'limit'>, count: number): Lane {
    const sliceMs = this.#invocation.terminal.isWatched ? SLICE_MS : undefined;
    let hasEnough = false;
    const isEnough = () => hasEnough;
    const options = { count, signal: this.#signal, receipt: this.receipt, sliceMs, isEnough };
    const batches = findRecords(source, query, options);
    const finish = async () => {
      hasEnough = true;
      while (!(await batches.next()).done);
    };
    return { source, batches, finish };
  }

  async print(records: readonly SourcedRecord[]): Promise<void> {
    this.#count += records.length;
    await this.#printer.print(records);
  }

  /** Removes the progress line; must be called on every exit path. */
  end(): void {
    this.#progress.end();
  }

  /** Warns about what could not be read and returns the exit code. */
  exitCode(): number {
    this.end();
    this.receipt.warn(this.#invocation.terminal);
    if (this.receipt.isPartial) return EXIT.partial;
    return this.#count > 0 ? EXIT.ok : EXIT.different;
  }

  /** Prints a summary if stderr is a terminal. */
  printReceipt(): void {
    this.#progress.clear();
    const { isWatched } = this.#invocation.terminal;
    if (isWatched)
      this.#invocation.terminal.note(`${this.#count} ${this.#count === 1 ? 'record' : 'records'}; ${this.receipt}`);
  }
}

interface FindOptions {
  /** Maximum number of records. */
  count: number;
  signal: AbortSignal;
  /** Updated during the search. */
  receipt: Receipt;
  /** How long one request may scan before it reports how far it got. */
  sliceMs?: number | undefined;
  /** No further page is requested once this holds; the page under way is read to its closing record. */
  isEnough?: () => boolean;
}

/** The source and what to search in it. */
interface QueriedSource extends Pick<LogSource, 'selection' | 'maxRecords'> {
  state: Pick<LogState, 'searchLogs'>;
}

/** Yields batches of records, requesting pages until there are enough or no more. */
async function* findRecords(
  { state, selection, maxRecords }: QueriedSource,
  query: Omit<SearchQuery, 'limit'>,
  { count, signal, receipt, sliceMs, isEnough = () => false }: FindOptions,
): AsyncGenerator<PrintableRecord[], void, undefined> {
  let remaining = count;
  let start = query.start;
  while (remaining > 0 && !isEnough()) {
    const page: SearchQuery = {
      ...query,
      ...selection,
      limit: Math.min(remaining, maxRecords),
      ...(start && { start }),
    };
    let cursor: string | null = null;
    for await (const items of state.searchLogs(page, { signal, ...(sliceMs !== undefined && { budgetMs: sliceMs }) })) {
      const records = items.filter((item) => item.type === 'record');
      remaining -= records.length;
      if (records.length > 0) yield records;
      const end = items.at(-1);
      if (end?.type !== 'end') continue;
      receipt.add(end);
      if (end.reason === 'cancelled') throw signal.aborted ? signal.reason : searchEndedEarly();
      cursor = end.reason === 'exhausted' ? null : end.cursor;
    }
    if (cursor === null) return;
    start = { cursor };
  }
}

function searchEndedEarly(): PortholeError {
  return new PortholeError('SHUTTING_DOWN', 'the node ended the search before it was done');
}
