import { PortholeError } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs';
import { EXIT } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import type { RecordStyle } from '../output/format-record.ts';
import { Progress } from '../output/progress.ts';
import { visibleText } from '../output/visible-text.ts';
import type { LogSource, LogState, PrintableRecord } from '../sources/log-source.ts';
import type { Lane, SourcedRecord } from './merge-records.ts';
import { Receipt } from './receipt.ts';
import { RecordPrinter } from './record-printer.ts';
import { totalBytes } from './total-bytes.ts';

/** On a terminal a long search runs in slices, each of which reports progress. */
const SLICE_MS = 500;

/** How many times the limit is suggested where there are more records. */
const MORE = 10;

export interface RunOptions {
  style: RecordStyle;
  hasContext: boolean;
  signal: AbortSignal;
}

export interface ReceiptOptions {
  limit: number;
  /** Also if all records were printed. */
  isAlways: boolean;
  /** Whether one record more than the limit was requested. */
  isSure?: boolean;
}

/** Runs the queries of one command line, prints the records and determines the exit code. */
export class RecordRun {
  readonly receipt = new Receipt();
  readonly #invocation: Invocation;
  readonly #signal: AbortSignal;
  readonly #printer: RecordPrinter;
  readonly #absentFields: () => readonly string[];
  readonly #progress: Progress;
  readonly #sources: LogSource[] = [];
  #count = 0;
  #hasMore = false;
  /** Of all sources; `undefined` until it is known. */
  #totalBytes: number | undefined;
  #isTotalRequested = false;

  constructor(invocation: Invocation, { style, hasContext, signal }: RunOptions) {
    const { terminal } = invocation;
    this.#invocation = invocation;
    this.#signal = signal;
    this.#absentFields = () => style.layout?.absent ?? [];
    this.#progress = new Progress(terminal, () => this.#progressText());
    const { receipt } = this;
    this.#printer = new RecordPrinter(terminal, { style, hasContext, signal, progress: this.#progress, receipt });
  }

  /** Notes that there may be more records than those printed. */
  readonly addMore = (): void => {
    this.#hasMore = true;
  };

  /** The matching records of one source, at most `count`. */
  lane(source: LogSource, query: Omit<SearchQuery, 'limit'>, count: number): Lane {
    this.#sources.push(source);
    const sliceMs = this.#invocation.terminal.isWatched ? SLICE_MS : undefined;
    let hasEnough = false;
    const isEnough = () => hasEnough;
    const { receipt, addMore: onMore } = this;
    const options = { count, signal: this.#signal, receipt, sliceMs, isEnough, onMore };
    const batches = findRecords(source, query, options);
    const finish = async () => {
      hasEnough = true;
      for await (const rest of batches) if (rest.length > 0) onMore();
    };
    return { source, batches, finish };
  }

  async print(records: readonly SourcedRecord[]): Promise<void> {
    this.#count += records.length;
    await this.#printer.print(records);
  }

  /** Call when all records are printed: completes the output, and names columns that nothing was found for. */
  async finish(): Promise<void> {
    await this.#printer.end();
    if (this.#count === 0) return;
    for (const name of this.#absentFields()) {
      this.#progress.clear();
      this.#invocation.terminal.note(visibleText(`no record has the field ${JSON.stringify(name)}`));
    }
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

  /** Prints a summary if stderr is a terminal: always, or only if something is missing from the output. */
  printReceipt({ limit, isAlways, isSure = false }: ReceiptOptions): void {
    const { terminal } = this.#invocation;
    this.#progress.clear();
    if (!terminal.isWatched) return;
    const scanned = this.receipt.describe();
    const found = `${this.#count} ${this.#count === 1 ? 'record' : 'records'}`;
    if (this.#count === 0) terminal.note(`no match; ${scanned}`);
    else if (this.#hasMore)
      terminal.note(`${found}; ${scanned}; more ${isSure ? '' : 'may be '}available: -n ${limit * MORE}`);
    else if (isAlways) terminal.note(`${found}; ${scanned}`);
  }

  #progressText(): string {
    if (!this.#isTotalRequested) {
      this.#isTotalRequested = true;
      // Only for the percentage: without it the search itself reports what is wrong.
      totalBytes(this.#sources, this.#signal).then(
        (bytes) => {
          this.#totalBytes = bytes;
        },
        () => {},
      );
    }
    return `${this.receipt.describe(this.#totalBytes)}, ${this.#count} found; Ctrl-C to stop`;
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
  /** Called if the search stopped at `count` records, so that there may be more. */
  onMore(): void;
}

/** The source and what to search in it. */
interface QueriedSource extends Pick<LogSource, 'selection' | 'maxRecords' | 'place'> {
  state: Pick<LogState, 'searchLogs'>;
}

/** Yields batches of records, requesting pages until there are enough or no more. */
async function* findRecords(
  { state, selection, maxRecords, place }: QueriedSource,
  query: Omit<SearchQuery, 'limit'>,
  { count, signal, receipt, sliceMs, isEnough = () => false, onMore }: FindOptions,
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
      receipt.add(end, place);
      if (end.reason === 'cancelled') throw signal.aborted ? signal.reason : searchEndedEarly();
      cursor = end.reason === 'exhausted' ? null : end.cursor;
    }
    if (cursor === null) return;
    start = { cursor };
  }
  if (remaining <= 0) onMore();
}

function searchEndedEarly(): PortholeError {
  return new PortholeError('SHUTTING_DOWN', 'the node ended the search before it was done');
}
