import type { MemberReport } from '@porthole/client';
import { withSnapshotRows } from '../follow/snapshot-rows.ts';
import { MemberReports, type RequestKind } from './member-reports.ts';
import type { Row, WorkspaceState } from './workspace-state.ts';

const MORE = { kind: 'more' } as const;

export const FOLLOW_OFF: WorkspaceState['follow'] = {
  state: 'off',
  newRecords: 0,
  newErrors: 0,
  linesPerSecond: 0,
  lagMs: null,
  reason: null,
};

export const FIND_NOTHING: WorkspaceState['find'] = {
  query: null,
  isSearching: false,
  index: null,
  total: null,
  message: null,
};

const EMPTY: WorkspaceState = {
  rows: [],
  generation: 0,
  anchor: null,
  focusedKey: null,
  top: MORE,
  bottom: MORE,
  follow: FOLLOW_OFF,
  find: FIND_NOTHING,
  filter: {},
  contextKey: null,
  failure: null,
  members: [],
  problems: [],
  duplicates: [],
  extent: null,
  histogram: null,
  isCounting: false,
  countFailure: null,
};

/** The state shared by all parts of a workspace. Every change creates a new object and notifies subscribers at once. */
export class StateKeeper {
  #state = EMPTY;
  /** Rows as they were set; those of the state also contain snapshot rows. */
  #rows: readonly Row[] = EMPTY.rows;
  #reports = new MemberReports();
  readonly #listeners = new Set<() => void>();

  get state(): WorkspaceState {
    return this.#state;
  }

  change(part: Partial<WorkspaceState>): void {
    this.#state = { ...this.#state, ...part };
    if (part.rows) this.#rows = part.rows;
    if (part.rows || part.members || part.bottom) {
      const { members, bottom } = this.#state;
      this.#state.rows = withSnapshotRows(this.#rows, members, bottom.kind);
    }
    for (const listener of [...this.#listeners]) listener();
  }

  /** The members after these reports. */
  membersAfter(request: RequestKind, reports: readonly MemberReport[]): readonly MemberReport[] {
    return reports.length === 0 ? this.#state.members : this.#reports.note(request, reports);
  }

  /** Clears the rows; generations keep counting, so that the view notices the new rows. */
  reset(part: Partial<WorkspaceState>): void {
    this.#reports = new MemberReports();
    this.change({ ...EMPTY, generation: this.#state.generation, ...part });
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
