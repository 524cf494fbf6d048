import type { FoundRecord } from '@porthole/logs';
import { formatPrefix, formatRecord, type RecordStyle } from '../output/format-record.ts';
import type { Progress } from '../output/progress.ts';
import type { Terminal } from '../output/terminal.ts';
import { type FileHolder, type PrintableRecord, withoutNode } from '../sources/log-source.ts';
import type { SourcedRecord } from './merge-sources.ts';
import type { Receipt } from './receipt.ts';

export interface PrinterOptions {
  style: RecordStyle;
  /** Whether records come with context. */
  hasContext: boolean;
  signal: AbortSignal;
  progress?: Progress;
  /** Counts records printed as received because their file could not be read. */
  receipt: Receipt;
}

/** Recently printed records to remember, so that overlapping context is printed once. */
const REMEMBERED = 2000;

/** Prints records to stdout in batches. */
export class RecordPrinter {
  readonly #terminal: Terminal;
  readonly #options: PrinterOptions;
  readonly #written = new Set<string>();
  #parts: (string | Uint8Array)[] = [];
  /** Those of a layout, which formats them together. */
  #rows: PrintableRecord[] = [];
  #isFirst = true;
  /** Where the last record ended, if without a newline: a record starting there continues its line. */
  #openEnd: string | undefined;

  constructor(terminal: Terminal, options: PrinterOptions) {
    this.#terminal = terminal;
    this.#options = options;
  }

  async print(records: readonly SourcedRecord[]): Promise<void> {
    for (const { source, record } of records) {
      const each = { source, record: source.nodes ? record : withoutNode(record) };
      if (this.#options.hasContext && this.#options.style.format !== 'json') await this.#addGroup(each);
      else await this.#add(each);
    }
    await this.#flush();
  }

  /** Prints what a layout has left. */
  async end(): Promise<void> {
    await this.#terminal.write(this.#options.style.layout?.end() ?? '');
  }

  async #addGroup({ source, record }: SourcedRecord): Promise<void> {
    // Context records are from the same node, but only the record itself names it.
    const around = record.node === undefined ? {} : { node: record.node };
    const group: PrintableRecord[] = [
      ...(record.before ?? []).map((each) => ({ ...each, ...around })),
      record,
      ...(record.after ?? []).map((each) => ({ ...each, ...around })),
    ];
    const fresh = group.filter((each) => !this.#written.has(positionKey(each)));
    const hasRows = this.#options.style.layout !== undefined;
    if (!this.#isFirst && fresh.length === group.length && !hasRows) this.#parts.push('--\n');
    this.#isFirst = false;
    for (const each of fresh) {
      this.#written.add(positionKey(each));
      await this.#add({ source, record: each });
    }
    for (const key of this.#written) {
      if (this.#written.size <= REMEMBERED) break;
      this.#written.delete(key);
    }
  }

  async #add({ source, record }: SourcedRecord): Promise<void> {
    const { style } = this.#options;
    const named = source.place ? { ...record, target: `${source.place}${record.file}` } : record;
    if (style.format !== 'raw' || style.isTty) {
      if (style.layout) return void this.#rows.push(named);
      return void this.#parts.push(formatRecord(named, style));
    }
    const isContinued = this.#openEnd === positionKey(record, record.offset);
    if (this.#openEnd !== undefined && !isContinued) this.#parts.push('\n');
    if (style.prefix && !isContinued) this.#parts.push(formatPrefix(named, style));
    const { text, isOpen } = await this.#exactText({ source, record });
    this.#parts.push(text);
    this.#openEnd = isOpen ? positionKey(record, record.offset + record.bytes) : undefined;
  }

  /** Falls back to the received text if the file cannot be read. */
  async #exactText({ source, record }: SourcedRecord): Promise<ExactText> {
    try {
      return await exactText(source.holderFor(record.node), record);
    } catch (error) {
      if (this.#options.signal.aborted) throw error;
      this.#options.receipt.addUnread(record, error);
      return receivedText(record);
    }
  }

  /** Joins all parts into one write. */
  async #flush(): Promise<void> {
    const rows = this.#options.style.layout?.format(this.#rows) ?? '';
    const parts = [...this.#parts, ...(rows === '' ? [] : [rows])];
    this.#parts = [];
    this.#rows = [];
    if (parts.length === 0) return;
    if (this.#terminal.isTty) this.#options.progress?.clear();
    const isText = parts.every((part) => typeof part === 'string');
    await this.#terminal.write(isText ? parts.join('') : Buffer.concat(parts.map((part) => Buffer.from(part))));
  }
}

function positionKey({ node = '', file, offset }: PrintableRecord, at = offset): string {
  return `${at} ${node} ${file}`;
}

interface ExactText {
  text: string | Uint8Array;
  /** Does not end with a newline: the file ends there, or the rest of a long record follows. */
  isOpen: boolean;
}

const NEWLINE = 10;

/** Line endings by the number of bytes the text lacks. */
const ENDS = ['', '\n', '\r\n'];

/**
 * A record byte for byte as in its file, with its newline if it has one. Throws if the file must be read for that and
 * cannot be.
 */
async function exactText(holder: FileHolder, record: FoundRecord): Promise<ExactText> {
  const { bytes, cut, raw } = record;
  const end = cut || raw === undefined ? undefined : ENDS[bytes - Buffer.byteLength(raw)];
  if (end !== undefined && !raw?.includes('\ufffd')) return { text: raw + end, isOpen: end === '' };
  return (await readRecord(holder, record)) ?? receivedText(record);
}

/** The text as received, for a record whose file cannot be read: its member may be gone by now. */
function receivedText({ raw, message }: FoundRecord): ExactText {
  return { text: `${raw ?? message}\n`, isOpen: false };
}

/** Reads the bytes of a long record, or of one that is not valid UTF-8. */
async function readRecord(holder: FileHolder, { file, offset, bytes }: FoundRecord): Promise<ExactText | undefined> {
  const log = await holder.openLog({ file, text: true });
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of log.read(offset, offset + bytes)) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks);
    return { text, isOpen: text.at(-1) !== NEWLINE };
  } finally {
    await log.close();
  }
}
