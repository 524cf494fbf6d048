/** What the tests of other packages use of this one: helpers, and internals that have no public entry. Not published. */
export { keyGroups } from '../log-view/key-groups.ts';
export { recordLine } from '../log-view/rows/record-text.ts';
export {
  type FollowFrom,
  type LogSource,
  type Page,
  type PageRequest,
  type RowFilter,
  recordKey,
  type ShownRecord,
} from '../log-view/source/log-source.ts';
export { SelectedLogs } from '../log-view/source/selected-logs.ts';
export { LogWorkspace, type OpenWorkspace } from '../log-view/workspace/log-workspace.ts';
export { ALL_LOGS, type LogsView, type SourceChoice } from '../state/view.ts';
export { logsQuery, parseView, viewUrl } from '../state/view-url.ts';
export { timePreview } from '../ui/format.ts';
