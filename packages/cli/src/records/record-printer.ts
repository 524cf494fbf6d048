import type { Progress } from '../output/progress.ts';
import { type RecordStyle, recordText } from '../output/record-text.ts';
import type { Terminal } from '../output/terminal.ts';
import type { ToldOfRecord } from '../where/log-source.ts';
import { type ExactText, exactText, receivedText } from './exact-text.ts';
import type { ToldRecord } from './merge-records.ts';
import type { Receipt } from './receipt.ts';

export interface PrinterOptions {
  style: RecordStyle;
  /** Whether records come with those around them. */
  hasContext: boolean;
  signal: AbortSignal;
  progress?: Progress;
  /** Gets a problem for records that are printed as received because their file could not be read. */
  receipt: Receipt;
}

/** Records that were written lately, so that what stands around two of them is written once. */
const REMEMBERED = 2000;

/** Writes records to stdout, many at a time. */
export class RecordPrinter {
  readonly #terminal: Terminal;
  readonly #options: PrinterOptions;
  readonly #written = new Set<string>();
  #parts: (string | Uint8Array)[] = [];
  #isFirst = true;
  /** Where the last record ended without a newline: what stands there in the file goes on in the same line. */
  #openEnd: string | undefined;

  constructor(terminal: Terminal, options: PrinterOptions) {
    this.#terminal = terminal;
    this.#options = options;
  }

  async print(told: readonly ToldRecord[]): Promise<void> {
    for (const each of told) {
      if (this.#options.hasContext && this.#options.style.format !== 'json') await this.#addGroup(each);
      else await this.#add(each);
    }
    await this.#flush();
  }

  async #addGroup({ source, record }: ToldRecord): Promise<void> {
    // What stands around a record is of the same node, which only the record itself says.
    const around = record.node === undefined ? {} : { node: record.node };
    const group: ToldOfRecord[] = [
      ...(record.before ?? []).map((each) => ({ ...each, ...around })),
      record,
      ...(record.after ?? []).map((each) => ({ ...each, ...around })),
    ];
    const fresh = group.filter((each) => !this.#written.has(placeOf(each)));
    if (!this.#isFirst && fresh.length === group.length) this.#parts.push('--\n');
    this.#isFirst = false;
    for (const each of fresh) {
      this.#written.add(placeOf(each));
      await this.#add({ source, record: each });
    }
    for (const key of this.#written) {
      if (this.#written.size <= REMEMBERED) break;
      this.#written.delete(key);
    }
  }

  async #add({ source, record }: ToldRecord): Promise<void> {
    const { style } = this.#options;
    const isExact = style.format === 'raw' && !style.isTty && !style.prefix;
    if (!isExact) return void this.#parts.push(recordText(record, style));
    if (this.#openEnd !== undefined && this.#openEnd !== placeOf(record, record.offset)) this.#parts.push('\n');
    const { text, isOpen } = await this.#exactText({ source, record });
    this.#parts.push(text);
    this.#openEnd = isOpen ? placeOf(record, record.offset + record.bytes) : undefined;
  }

  /** A file that cannot be read costs no other record its line, and not even this one. */
  async #exactText({ source, record }: ToldRecord): Promise<ExactText> {
    try {
      return await exactText(source.holderOf(record.node), record);
    } catch (error) {
      if (this.#options.signal.aborted) throw error;
      this.#options.receipt.addUnread(record, error);
      return receivedText(record);
    }
  }

  /** Text runs as one write. */
  async #flush(): Promise<void> {
    const parts = this.#parts;
    this.#parts = [];
    if (parts.length === 0) return;
    if (this.#terminal.isTty) this.#options.progress?.clear();
    const isText = parts.every((part) => typeof part === 'string');
    await this.#terminal.write(isText ? parts.join('') : Buffer.concat(parts.map((part) => Buffer.from(part))));
  }
}

function placeOf({ node = '', file, offset }: ToldOfRecord, at = offset): string {
  return `${at} ${node} ${file}`;
}
