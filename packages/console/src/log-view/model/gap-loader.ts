import { toProblem } from '../../state/to-problem.ts';
import type { GapFacts } from '../follow/follow-rows.ts';
import { type Page, recordKey, type ShownRecord } from '../source/log-source.ts';
import { isShown } from '../source/shown-record.ts';
import { PAGE_RECORDS, SLICE_MS } from './load-pages.ts';
import { recordRow } from './row-buffer.ts';
import type { WorkspaceDeps } from './workspace-deps.ts';
import type { Row } from './workspace-state.ts';

type GapRow = Extract<Row, { kind: 'gap' }>;

/** Loads the records of a gap page by page; what is still missing stays a gap. */
export class GapLoader {
  readonly #deps: WorkspaceDeps;

  constructor(deps: WorkspaceDeps) {
    this.#deps = deps;
  }

  async load(key: string): Promise<void> {
    const { window, followRows, keeper } = this.#deps;
    const row = window.buffer.get(key);
    const facts = followRows.gaps.get(key);
    const source = this.#deps.source();
    if (row?.kind !== 'gap' || row.isLoading || !facts || !source) return;
    this.#replace({ ...row, isLoading: true });
    const { signal } = window;
    const { filter } = keeper.state;
    try {
      const request = { direction: 'newer', from: { next: facts.after }, limit: PAGE_RECORDS, filter } as const;
      const page = await source.page(request, { signal, budgetMs: SLICE_MS });
      if (!signal.aborted) this.#fill(row, facts, page);
    } catch (error) {
      if (!signal.aborted) this.#replace({ ...row, text: `${row.text} · ${toProblem(error).detail}` });
    }
  }

  #fill(row: GapRow, facts: GapFacts, page: Page): void {
    const { window, followRows, keeper } = this.#deps;
    const { records, isWhole } = within(page, facts);
    window.buffer.insertBefore(row.key, records.map(recordRow));
    const last = records.at(-1) ?? page.records.at(-1);
    if (isWhole || !last) {
      window.buffer.removeIf(({ key }) => key === row.key);
      followRows.gaps.delete(row.key);
    } else {
      followRows.gaps.set(row.key, { ...facts, after: last });
      window.buffer.replace(row.key, { ...row, isLoading: false, text: 'More records not shown' });
    }
    const { focusedKey } = keeper.state;
    const edge = window.trimInside(recordKey(last ?? facts.after));
    window.publish({ ...edge, ...(focusedKey === row.key && { focusedKey: null }) });
  }

  #replace(row: GapRow): void {
    this.#deps.window.buffer.replace(row.key, row);
    this.#deps.window.publish();
  }
}

/** The records before the end of the gap, and whether they are complete. */
function within({ records, next }: Page, { node, until }: GapFacts): { records: ShownRecord[]; isWhole: boolean } {
  const own = node === null ? records : records.filter((record) => record.node === node);
  if (until === null) return { records: own, isWhole: next === null };
  const end = own.findIndex((record) => recordKey(record) === recordKey(until) || isLater(record, until));
  return end < 0 ? { records: own, isWhole: next === null } : { records: own.slice(0, end), isWhole: true };
}

/** After it by time: with merged nodes it may be between others of the same millisecond. */
function isLater(record: ShownRecord, until: NonNullable<GapFacts['until']>): boolean {
  return isShown(until) && until.atMs !== undefined && record.atMs !== undefined && record.atMs > until.atMs;
}
