import { isUnread, missingOfMember, missingText, respondedText } from '@porthole/contract';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FollowStatus, WorkspaceState } from '../../log-view/model/workspace-state.ts';
import { recordTime } from '../../log-view/rows/record-text.ts';
import type { SeenRows } from '../../log-view/rows/row-list.tsx';
import {
  isPart,
  isPartialCount,
  type LogSource,
  type ShownProblem,
  type ShownRecord,
} from '../../log-view/source/log-source.ts';
import type { LogWorkspace } from '../../log-view/workspace/log-workspace.ts';
import { cluster } from '../../state/resource.ts';
import type { Store } from '../../state/store.ts';
import { type LogsView, nodeLogs, type ZoneName } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Button, LinkButton } from '../../ui/controls.tsx';
import {
  formatBytes,
  formatCount,
  formatCounted,
  formatDate,
  formatShortTime,
  formatSpan,
  formatTime,
  zoneLabel,
} from '../../ui/format.ts';
import { useResource, useStore } from '../../ui/hooks.ts';
import { isDegraded, problemText } from '../nodes/node-health.ts';
import { hiddenBelow } from './find-bar.tsx';

interface StatusBarProps {
  state: WorkspaceState;
  source: LogSource;
  seen: Store<SeenRows>;
  zone: ZoneName;
  onRetry: () => void;
}

/** Position of the view, growth rate of the log, and what is not shown. */
export function StatusBar({ state, source, seen, zone, onRetry }: StatusBarProps) {
  const { last } = useStore(seen);
  const nowMs = Date.now();
  const focused = state.rows.find(({ key }) => key === state.focusedKey);
  const record = focused?.kind === 'record' ? focused.record : last;
  const fraction = record && state.extent ? source.fractionAt(record, state.extent) : undefined;
  const failed = failedFiles(state.problems);
  const missing = state.members.flatMap((report) => missingOfMember(report)).filter((part) => !part.isExpected);
  return (
    <footer class="status-bar">
      {statusTexts({ state, record, fraction, zone, nowMs }).map((text) => (
        <span key={text}>{text}</span>
      ))}
      {failed.length > 0 ? (
        <span
          class="is-problem"
          title={failed.map(({ node, file, detail }) => `${node} ${file}: ${detail}`).join('\n')}
        >
          {failed.length} {failed.length === 1 ? 'file was' : 'files were'} only partly read
        </span>
      ) : null}
      {state.duplicates.length > 0 ? (
        <span
          title={state.duplicates.map(({ node, file, sameAs }) => `${node} ${file}: same text as ${sameAs}`).join('\n')}
        >
          {state.duplicates.length} {state.duplicates.length === 1 ? 'copy' : 'copies'} skipped
        </span>
      ) : null}
      {missing.length > 0 ? (
        <span class="is-problem" title={missing.map((part) => missingText(part)).join('\n')}>
          {respondedText(state.members)} · <LinkButton onClick={onRetry}>retry</LinkButton>
        </span>
      ) : null}
      <span class="bar-space" />
      <span>times in {zoneLabel(zone, nowMs)} · clock-corrected</span>
    </footer>
  );
}

/** Files listed; the title has all of them. */
const MAX_NAMED = 3;

/** Names degraded nodes and their problems: their logs may be incomplete. */
export function DegradedNote({ sources }: Pick<LogsView, 'sources'>) {
  const { value } = useResource(cluster);
  const isShown = (id: string) => sources.length === 0 || sources.some(({ node }) => node === id || /[*?]/.test(node));
  const degraded = (value?.nodes ?? []).filter((node) => isDegraded(node) && isShown(node.id));
  if (degraded.length === 0) return null;
  return (
    <p class="degraded-note" role="status">
      {degraded.map(({ id, problems }) => (
        <span key={id}>
          <strong>{id}</strong> is degraded: {problemText(problems)}
        </span>
      ))}
    </p>
  );
}

/** Names the files that are not included, with links to those that are text. */
export function SkippedFilesNote({ problems }: { problems: readonly ShownProblem[] }) {
  const files = skippedFiles(problems);
  if (files.length === 0) return null;
  const all = files.map(({ node, file, detail }) => `${node} ${file}: ${detail}`).join('\n');
  const more = files.length - MAX_NAMED;
  return (
    <p class="left-out" role="status" title={all}>
      {files.length === 1 ? '1 file is' : `${files.length} files are`} not shown (binary or without timestamps):{' '}
      {files.slice(0, MAX_NAMED).map(({ node, file, detail }, index) => (
        <span key={`${node} ${file}`}>
          {index > 0 ? ', ' : ''}
          {detail.startsWith('binary') ? (
            <span class="mono">{file}</span>
          ) : (
            <a class="mono" href={viewUrl(nodeLogs(node, { kind: 'file', name: file }))}>
              {file}
            </a>
          )}{' '}
          on {node}
        </span>
      ))}
      {more > 0 ? ` and ${more} more` : ''}
    </p>
  );
}

/** Why nothing can be shown. */
export function WorkspaceFailure({ failure, onRetry }: { failure: WorkspaceState['failure']; onRetry: () => void }) {
  if (!failure) return null;
  return (
    <div class="workspace-failure" role="alert">
      <p>
        <code>{failure.code}</code> {failure.detail}
      </p>
      <Button onClick={onRetry}>Try again</Button>
    </div>
  );
}

/** Minimum time between announcements to screen readers. */
const EVERY_MS = 5000;

/** Announces new records to screen readers. */
export function LiveSummary({ workspace }: { workspace: LogWorkspace }) {
  const [text, setText] = useState('');
  const announced = useRef({ key: '', errors: 0, records: 0 });
  useEffect(() => {
    const timer = setInterval(() => setText(summarize(workspace, announced.current)), EVERY_MS);
    return () => clearInterval(timer);
  }, [workspace]);
  return (
    <p class="sr-only" role="status" aria-live="polite">
      {text}
    </p>
  );
}

interface Announced {
  key: string;
  errors: number;
  records: number;
}

function summarize({ state }: LogWorkspace, announced: Announced): string {
  const { records, errors } =
    state.follow.state === 'live' ? sinceLast(state.rows, announced) : waiting(state.follow, announced);
  if (records === 0) return '';
  const lines = formatCounted(records, 'new line');
  return errors === 0 ? lines : `${lines}, ${formatCounted(errors, 'error')}`;
}

/** Rows after the one that was last at the previous announcement. */
function sinceLast(rows: LogWorkspace['state']['rows'], announced: Announced): { records: number; errors: number } {
  let records = 0;
  let errors = 0;
  for (const row of rows.toReversed()) {
    if (row.key === announced.key) break;
    if (row.kind !== 'record') continue;
    records++;
    if (row.record.level === 'ERROR' || row.record.level === 'FATAL') errors++;
  }
  const isFirst = announced.key === '';
  announced.key = rows.at(-1)?.key ?? '';
  return isFirst ? { records: 0, errors: 0 } : { records, errors };
}

function waiting({ newRecords, newErrors }: FollowStatus, announced: Announced): { records: number; errors: number } {
  const more = {
    records: Math.max(0, newRecords - announced.records),
    errors: Math.max(0, newErrors - announced.errors),
  };
  announced.records = newRecords;
  announced.errors = newErrors;
  return more;
}

/** Whether the counts are complete. */
function isCounted(histogram: WorkspaceState['histogram']): boolean {
  return histogram !== null && !isPartialCount(histogram);
}

/** Whether the rows are all matches: both ends done, no gaps, every node and file read. */
function isEverything({ top, bottom, rows, members, problems }: StatusInput['state']): boolean {
  return (
    !isPart({ members, problems }) &&
    top.kind === 'done' &&
    bottom.kind === 'done' &&
    rows.every(({ kind }) => kind !== 'gap')
  );
}

export interface StatusInput {
  state: Pick<
    WorkspaceState,
    'extent' | 'follow' | 'histogram' | 'filter' | 'top' | 'bottom' | 'rows' | 'members' | 'problems'
  >;
  /** The focused record, or the last one in view. */
  record: ShownRecord | null;
  /** Its position in the whole log. */
  fraction: number | undefined;
  zone: ZoneName;
  nowMs: number;
}

/** The items of the status bar, from the left. */
export function statusTexts(input: StatusInput): string[] {
  const { state } = input;
  const hidden = state.histogram ? hiddenBelow(state.histogram, state.filter.minLevel ?? null) : 0;
  return [
    positionText(input),
    ...rateTexts(state.follow),
    hidden > 0 ? `${formatCount(hidden)}${isCounted(state.histogram) ? '' : '+'} hidden by level` : '',
    scanText(input),
    archiveText(state.members),
  ].filter((text) => text !== '');
}

function positionText({ state: { extent }, record, fraction, zone, nowMs }: StatusInput): string {
  const timeMs = record ? recordTime(record) : undefined;
  const isToday = timeMs !== undefined && formatDate(timeMs, zone) === formatDate(nowMs, zone);
  const time =
    timeMs === undefined ? '' : `${isToday ? '' : `${formatDate(timeMs, zone)} `}${formatTime(timeMs, zone)}`;
  const share = fraction === undefined ? '' : `${(fraction * 100).toFixed(1)} %`;
  const total = extent?.kind === 'bytes' && share ? ` of ${formatBytes(extent.totalBytes)}` : '';
  return [time, share + total].filter((text) => text !== '').join(' · ');
}

function rateTexts({ state, linesPerSecond, lagMs }: WorkspaceState['follow']): string[] {
  if (state === 'off') return [];
  const isWhole = linesPerSecond >= 10 || linesPerSecond < 0.05;
  const rate = isWhole ? formatCount(Math.round(linesPerSecond)) : linesPerSecond.toFixed(1);
  return [`${rate} lines/s`, lagMs === null ? '' : `lag ${formatSpan(Math.max(0, lagMs))}`];
}

/** Whether records are no longer on the disk of their node, or were never looked for there. */
function archiveText(members: WorkspaceState['members']): string {
  const count = members.reduce((sum, { archive }) => sum + (archive?.count ?? 0), 0);
  return count === 0 ? '' : `${formatCount(count)} from the archive`;
}

/** How far back was scanned, if the rows do not show it. */
function scanText({ state, zone, nowMs }: StatusInput): string {
  const { top } = state;
  if (top.kind === 'done' && top.scannedBytes > 0)
    return `scanned ${formatBytes(top.scannedBytes)}${isEverything(state) ? ' · every match is shown' : ''}`;
  if (top.kind !== 'stopped' || top.reachedMs === null) return '';
  return `scanned ${formatBytes(top.scannedBytes)} back to ${formatShortTime(top.reachedMs, zone, nowMs)}`;
}

/** Code of files that are only read when selected by name: binary, or without timestamps. */
const LEFT_OUT = 'LEFT_OUT';

/** Files that should have been read but could not be. */
export function failedFiles(problems: readonly ShownProblem[]): ShownProblem[] {
  return problems.filter(isUnread);
}

export function skippedFiles(problems: readonly ShownProblem[]): ShownProblem[] {
  return problems.filter(({ code }) => code === LEFT_OUT);
}
