import {
  type Coverage,
  coverageOf,
  errorMessage,
  failures,
  formatBytes,
  isRest,
  joinCoverage,
  missingText,
  type ResponseFacts,
} from '@porthole/contract';
import type { Histogram } from '@porthole/logs';
import type { Terminal } from '../output/terminal.ts';
import { visibleText } from '../output/visible-text.ts';
import type { LogSource } from '../sources/log-source.ts';

type DuplicateFile = NonNullable<Histogram['end']['duplicates']>[number];

/** File names per line. */
const MAX_NAMED = 5;

/** What a response reports about itself: of files of a node, or of members of a cluster. */
export interface ReportingResponse extends ResponseFacts {
  scannedBytes?: number;
  skippedBytes?: number;
  duplicates?: readonly (DuplicateFile & { node?: string })[];
}

const NAMED: Pick<LogSource, 'nodes'> = { nodes: 'several' };

/** What all requests of one command line scanned and what they could not read. */
export class Receipt {
  readonly #startedMs = performance.now();
  readonly #coverages: Coverage[] = [];
  /** Files skipped because another one contains the same text, or with holes: nothing that can be read is missing. */
  readonly #notices = new Map<string, string>();
  /** Files that are read only when selected by name. */
  readonly #leftOut = new Set<string>();
  readonly #unread = new Map<string, { count: number; reason: string }>();
  scannedBytes = 0;

  /** Of a source: its place, and whether its nodes are named, as they are without one. */
  add(response: ReportingResponse, { place = '', nodes }: Pick<LogSource, 'place' | 'nodes'> = NAMED): void {
    const shown = (node: string | null | undefined) => (nodes ? (node ?? undefined) : undefined);
    const { scannedBytes = 0, skippedBytes = 0, problems = [], duplicates = [] } = response;
    this.scannedBytes += scannedBytes + skippedBytes;
    for (const duplicate of duplicates) {
      const label = `${place}${fileLabel({ node: shown(duplicate.node), file: duplicate.file })}`;
      this.#notices.set(label, `${label} not read: same text as ${duplicate.sameAs}`);
    }
    for (const { node, file, code, detail } of problems) {
      const label = `${place}${fileLabel({ node: shown(node), file })}`;
      // Not requested by name, so nothing is missing.
      if (code === 'LEFT_OUT') this.#leftOut.add(label);
      else if (code === 'NUL_BYTES') this.#notices.set(`${label} ${code}`, `${label}: ${detail}`);
    }
    const coverage = coverageOf(response);
    const missing = coverage.missing.map((part) => {
      const detail = part.reason === 'unreadable' ? `${place}${part.detail}` : part.detail;
      return { ...part, node: shown(part.node) ?? null, detail };
    });
    this.#coverages.push({ ...coverage, missing });
  }

  /** How much of what was requested was received, in all. */
  get coverage(): Coverage {
    return joinCoverage(this.#coverages);
  }

  /** Adds a record whose bytes could not be read from its file; counted per file, with the first reason. */
  addUnread({ node, file }: { node?: string; file: string }, error: unknown): void {
    const label = fileLabel({ node, file });
    const unread = this.#unread.get(label) ?? {
      count: 0,
      reason: errorMessage(error),
    };
    this.#unread.set(label, { ...unread, count: unread.count + 1 });
  }

  /** Whether some requested data could not be read. */
  get isPartial(): boolean {
    return failures(this.coverage).length > 0 || this.#unread.size > 0;
  }

  /** Warns about every file and member that could not be read completely. */
  warn(terminal: Terminal): void {
    for (const part of this.coverage.missing) {
      if (part.isExpected) terminal.note(visibleText(missingText(part)));
      else if (!isRest(part)) terminal.warn(visibleText(missingText(part)));
    }
    for (const notice of this.#notices.values()) terminal.warn(visibleText(notice));
    this.#warnLeftOut(terminal);
    for (const [label, { count, reason }] of this.#unread) {
      const records = count === 1 ? '1 record is' : `${count} records are`;
      terminal.warn(visibleText(`${label}: ${records} printed as received, not byte for byte: ${reason}`));
    }
  }

  #warnLeftOut(terminal: Terminal): void {
    const count = this.#leftOut.size;
    if (count === 0) return;
    const named = [...this.#leftOut].slice(0, MAX_NAMED).join(', ');
    const files = count === 1 ? '1 file' : `${count} files`;
    const more = count > MAX_NAMED ? ` and ${count - MAX_NAMED} more` : '';
    terminal.warn(
      visibleText(`${files} skipped (binary or without timestamps); select by name to read: ${named}${more}`),
    );
  }

  /** With the percentage of a total, if that is known. */
  describe(totalBytes?: number): string {
    const seconds = (performance.now() - this.#startedMs) / 1000;
    const share = totalBytes ? ` (${Math.min(99, Math.floor((100 * this.scannedBytes) / totalBytes))} %)` : '';
    return `scanned ${formatBytes(this.scannedBytes)}${share} in ${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  }
}

function fileLabel({ node, file }: { node?: string | undefined; file: string }): string {
  return node === undefined ? file : `${node}:${file}`;
}
