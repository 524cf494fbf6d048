import { type ArchivePart, errorMessage, type MemberReport, type MembershipState } from '@porthole/contract';
import type { Histogram } from '@porthole/logs';
import { formatBytes } from '../output/format-bytes.ts';
import type { Terminal } from '../output/terminal.ts';
import { visibleText } from '../output/visible-text.ts';
import { explainReport, explainStale, isMissing } from './explain.ts';

type FileProblem = Histogram['end']['problems'][number];
type DuplicateFile = NonNullable<Histogram['end']['duplicates']>[number];

/** File names per line. */
const MAX_NAMED = 5;

/** What a response reports about its coverage: files of a node, or members of a cluster. */
export interface Coverage {
  scannedBytes?: number;
  skippedBytes?: number;
  problems?: readonly (FileProblem & { node?: string })[];
  limits?: string;
  duplicates?: readonly (DuplicateFile & { node?: string })[];
  members?: readonly MemberReport[];
  membership?: MembershipState;
  archive?: ArchivePart;
}

/** What all requests of one command line scanned and what they could not read. */
export class Receipt {
  readonly #startedMs = performance.now();
  readonly #problems = new Map<string, string>();
  /** Files skipped because another one contains the same text, or with holes: nothing that can be read is missing. */
  readonly #notices = new Map<string, string>();
  /** Files that are read only when selected by name. */
  readonly #leftOut = new Set<string>();
  readonly #unread = new Map<string, { count: number; reason: string }>();
  #stale: string | undefined;
  scannedBytes = 0;

  /** `place` is that of the source, see there. */
  add(coverage: Coverage, place = ''): void {
    const { scannedBytes = 0, skippedBytes = 0, problems = [], duplicates = [] } = coverage;
    const { limits, members = [], membership, archive } = coverage;
    this.scannedBytes += scannedBytes + skippedBytes;
    for (const duplicate of duplicates) {
      const label = `${place}${fileLabel(duplicate)}`;
      this.#notices.set(label, `${label} not read: same text as ${duplicate.sameAs}`);
    }
    for (const problem of problems) this.#addProblem(problem, place);
    if (limits !== undefined) this.#problems.set('limits', limits);
    if (archive?.problem) this.#problems.set('archive', `what only the archive has is missing: ${archive.problem}`);
    for (const report of members) {
      if (isMissing(report) || report.isPartial) this.#problems.set(report.id, explainReport(report));
    }
    if (membership?.state === 'stale') this.#stale = explainStale(membership);
  }

  #addProblem({ node, file, code, detail }: FileProblem & { node?: string }, place: string): void {
    const label = `${place}${fileLabel({ node, file })}`;
    // Not requested by name, so nothing is missing.
    if (code === 'LEFT_OUT') this.#leftOut.add(label);
    else if (code === 'NUL_BYTES') this.#notices.set(`${label} ${code}`, `${label}: ${detail}`);
    // The report of a member already includes its problems.
    else if (node === undefined) this.#problems.set(`${label} ${code}`, `${label}: ${code}: ${detail}`);
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
    return this.#problems.size > 0 || this.#unread.size > 0;
  }

  /** Warns about every file and member that could not be read completely. */
  warn(terminal: Terminal): void {
    if (this.#stale !== undefined) terminal.warn(visibleText(this.#stale));
    for (const problem of this.#problems.values()) terminal.warn(visibleText(problem));
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
