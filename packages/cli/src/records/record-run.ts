import { absenceText, LogSources } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs';
import type { RecordBatch, Timed } from '@porthole/records';
import { EXIT } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import type { RecordStyle } from '../output/format-record.ts';
import { Progress } from '../output/progress.ts';
import { visibleText } from '../output/visible-text.ts';
import type { LogSource } from '../sources/log-source.ts';
import { findPages, jsonPages, type OpenPage, type RecordList, recordPages, textPages } from './find-pages.ts';
import { type Lane, mergeRecords, mergeTexts, type SourcedRecord } from './merge-sources.ts';
import { Receipt } from './receipt.ts';
import { RecordPrinter } from './record-printer.ts';

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

/** What to search in one source. */
export interface SourceQuery {
  source: LogSource;
  query: Omit<SearchQuery, 'limit'>;
  /** Maximum number of records. */
  count: number;
}

export interface PrintOptions {
  order: 'newest' | 'oldest';
  /** Maximum number of records of all sources together. */
  limit?: number;
}

/** Runs the queries of one command line, prints the records and determines the exit code. */
export class RecordRun {
  readonly receipt = new Receipt();
  readonly #invocation: Invocation;
  readonly #signal: AbortSignal;
  readonly #printer: RecordPrinter;
  readonly #style: RecordStyle;
  readonly #hasContext: boolean;
  readonly #absentFields: () => readonly string[];
  readonly #progress: Progress;
  readonly #sources: LogSource[] = [];
  #count = 0;
  #hasMore = false;
  /** The bytes of all sources; `undefined` until they are known. */
  #totalBytes: number | undefined;
  #isTotalRequested = false;

  constructor(invocation: Invocation, { style, hasContext, signal }: RunOptions) {
    const { terminal } = invocation;
    this.#invocation = invocation;
    this.#signal = signal;
    this.#style = style;
    this.#hasContext = hasContext;
    this.#absentFields = () => style.layout?.absent ?? [];
    this.#progress = new Progress(terminal, () => this.#progressText());
    const { receipt } = this;
    this.#printer = new RecordPrinter(terminal, { style, hasContext, signal, progress: this.#progress, receipt });
  }

  /** Notes that there may be more records than those printed. */
  readonly addMore = (): void => {
    this.#hasMore = true;
  };

  /** The matching records of one source. */
  lane(query: SourceQuery): Lane<RecordList> {
    return this.#find(query, recordPages(query.source.state));
  }

  /** Prints the matching records of all sources, merged by time, as they are found. */
  async printMerged(queries: readonly SourceQuery[], { order, limit = Infinity }: PrintOptions): Promise<void> {
    const merge = { order, limit, onMore: this.addMore };
    const opened = this.#textPages(queries);
    if (!opened) {
      const lanes = queries.map((query) => this.lane(query));
      for await (const batch of mergeRecords(lanes, merge)) await this.print(batch);
      return;
    }
    const lanes = opened.map(({ query, open }) => this.#find(query, open));
    for await (const { text, count } of mergeTexts(lanes, merge)) {
      this.#count += count;
      await this.#invocation.terminal.write(text);
    }
  }

  /** How to get records as they are printed, without decoding them; `undefined` if that is not possible. */
  #textPages(queries: readonly SourceQuery[]): { query: SourceQuery; open: OpenPage<RecordBatch> }[] | undefined {
    const { format, isTty, prefix } = this.#style;
    const isExact = format === 'raw' && !prefix && !this.#hasContext;
    if (isTty || !(isExact || format === 'json')) return undefined;
    const opened = queries.flatMap((query) => {
      const { state, place } = query.source;
      const open = isExact ? textPages(state) : jsonPages(state, place);
      return open ? [{ query, open }] : [];
    });
    return opened.length === queries.length ? opened : undefined;
  }

  #find<Batch extends Timed>({ source, query, count }: SourceQuery, open: OpenPage<Batch>): Lane<Batch> {
    this.#sources.push(source);
    const sliceMs = this.#invocation.terminal.isWatched ? SLICE_MS : undefined;
    let hasEnough = false;
    const isEnough = () => hasEnough;
    const { receipt, addMore: onMore } = this;
    const options = { count, signal: this.#signal, receipt, sliceMs, isEnough, onMore };
    const batches = findPages(open, { source, query }, options);
    const finish = async () => {
      hasEnough = true;
      for await (const _ of batches) onMore();
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
    if (this.#count === 0) terminal.note(`${absenceText('no match', this.receipt.coverage)}; ${scanned}`);
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

/** How much text such a file contains is not known. */
const COMPRESSED = /\.(gz|zst|xz|bz2)$/i;

type SizedSource = Pick<LogSource, 'selection'> & { state: Pick<LogSource['state'], 'listLogs'> };

/** Bytes of text that searches of these sources can read; `undefined` if that is not known. */
export async function totalBytes(sources: readonly SizedSource[], signal: AbortSignal): Promise<number | undefined> {
  let bytes = 0;
  for (const { state, selection } of sources) {
    const logs = new LogSources(selection.src);
    // Which files a log has is not known by their names.
    const isOfFiles = logs.list.every(({ kind }) => kind === 'file');
    const entries = isOfFiles ? await state.listLogs?.({ signal }) : undefined;
    if (!entries) return undefined;
    const selected = entries.filter(({ name }) => logs.hasFile(name, name));
    if (selected.some(({ name }) => COMPRESSED.test(name))) return undefined;
    bytes += selected.reduce((sum, { size }) => sum + size, 0);
  }
  return bytes;
}
