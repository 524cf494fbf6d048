import { withSnapshotRows } from '../follow/snapshot-rows.ts';
import { EDGES, FIND_NOTHING, INITIAL, type LogAction, type LogState, NO_SCANS } from './log-state.ts';
import { closeContext, fillGap, openContext, updateGap } from './reduce-inserts.ts';
import {
  addPage,
  appendLive,
  completeEdge,
  failToShow,
  reportMembers,
  resumeAtEnd,
  showPages,
  startShowing,
  stopLoading,
} from './reduce-pages.ts';
import type { FindStatus } from './workspace-state.ts';

/** The state after an action. Pure: requests and timers belong to those who dispatch the actions. */
export function reduce(state: LogState, action: LogAction): LogState {
  const next = apply(state, action);
  if (next.buffer === state.buffer && next.members === state.members && next.bottom === state.bottom) return next;
  return {
    ...next,
    rows: withSnapshotRows(next.buffer.rows, next.members, { bottom: next.bottom.kind, toMs: next.filter.toMs }),
  };
}

function apply(state: LogState, action: LogAction): LogState {
  switch (action.type) {
    case 'opened':
      // Generations keep counting, so that the view notices the new rows.
      return { ...INITIAL, generation: state.generation, filter: action.filter };
    case 'filter-changed':
      return { ...state, filter: action.filter, histogram: null, scans: NO_SCANS };
    case 'show-started':
      return startShowing(state, action);
    case 'shown':
      return showPages(state, action);
    case 'show-failed':
      return failToShow(state, action.failure);
    case 'page-loaded':
      return addPage(state, action);
    case 'edge-changed': {
      const { direction, edge } = action;
      return { ...state, [EDGES[direction]]: completeEdge(edge, state.scans[direction]) };
    }
    case 'loading-stopped':
      return stopLoading(state);
    case 'followed':
      return { ...appendLive(state, action.rows), follow: action.follow };
    case 'resumed':
      return { ...resumeAtEnd(state, action.rows), follow: action.follow };
    case 'members-reported':
      return reportMembers(state, action.kind, action.reports);
    case 'focused':
      // The focus moved for another reason than a step to a match.
      return { ...withFind(state, { index: null }), focusedKey: action.key };
    case 'brought-into-view': {
      const { key, align } = action;
      return { ...state, focusedKey: key, anchor: { key, align }, generation: state.generation + 1 };
    }
    default:
      return applyDetail(state, action);
  }
}

/** What is shown about and between the rows. */
function applyDetail(state: LogState, action: LogAction): LogState {
  switch (action.type) {
    case 'gap-load-started':
      return updateGap(state, action.key, () => ({ isLoading: true }));
    case 'gap-loaded':
      return fillGap(state, action);
    case 'gap-load-failed':
      return updateGap(state, action.key, ({ text }) => ({ isLoading: false, text: `${text} · ${action.detail}` }));
    case 'context-opened':
      return { ...state, contextKey: action.key, focusedKey: action.key };
    case 'context-loaded':
      return openContext(state, action);
    case 'context-failed':
      return { ...withFind(state, { message: action.detail }), contextKey: null };
    case 'context-closed':
      return closeContext(state);
    case 'extent-loaded':
      return { ...state, extent: action.extent };
    case 'count-started':
      return { ...state, isCounting: true, countFailure: null };
    case 'counted': {
      const { histogram } = action;
      return { ...reportMembers(state, 'count', histogram?.members ?? []), histogram, isCounting: false };
    }
    case 'count-failed':
      // Earlier counts may belong to another filter, or be old.
      return { ...state, isCounting: false, histogram: null, countFailure: action.detail };
    default:
      return applyFind(state, action);
  }
}

function applyFind(state: LogState, action: LogAction): LogState {
  switch (action.type) {
    case 'find-changed':
      return withFind(state, { ...FIND_NOTHING, query: action.query });
    case 'find-started':
      return withFind(state, { isSearching: true, message: null });
    case 'find-ended':
      return withFind(state, { isSearching: false, message: action.message ?? state.find.message });
    case 'find-reported':
      return withFind(state, { message: action.message });
    case 'matches-counted':
      return withFind(state, action.total === null ? { total: null, index: null } : { total: action.total });
    case 'match-reached':
      return withFind(state, { index: action.index });
    default:
      return state;
  }
}

function withFind(state: LogState, part: Partial<FindStatus>): LogState {
  return { ...state, find: { ...state.find, ...part } };
}
