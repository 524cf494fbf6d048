import { isUnread, matchesPattern, missingOfMember, missingText, respondedText } from '@porthole/contract';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { FollowStatus, WorkspaceState } from '../../log-view/model/workspace-state.ts';
import { hiddenBelow, isPart, isPartialCount, levelSums, type ShownProblem } from '../../log-view/source/log-source.ts';
import type { LogWorkspace } from '../../log-view/workspace/log-workspace.ts';
import { cluster } from '../../state/resource.ts';
import { type LogsView, nodeLogs, type ZoneName } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Button, LinkButton } from '../../ui/controls.tsx';
import {
  formatBytes,
  formatCount,
  formatCounted,
  formatSecond,
  formatShortTime,
  formatSpan,
  isDegraded,
  problemText,
} from '../../ui/format.ts';
import { useResource } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';

interface CoverageLineProps {
  state: WorkspaceState;
  sources: LogsView['sources'];
  zone: ZoneName;
  onRetry: () => void;
}

/** Files named in the line; the title has all of them. */
const MAX_NAMED = 2;

/** One line that says what was read, or what was not. */
export function CoverageLine({ state, sources, zone, onRetry }: CoverageLineProps) {
  const { nodes = [] } = useResource(cluster).value ?? {};
  const { total, isComplete, texts } = coverageTexts(state, { zone, nowMs: Date.now() });
  const failed = state.problems.filter(isUnread);
  const skipped = skippedFiles(state.problems);
  const missing = state.members.flatMap((report) => missingOfMember(report)).filter((part) => !part.isExpected);
  const isShown = (id: string) => sources.length === 0 || sources.some(({ node }) => matchesPattern(id, node));
  const degraded = nodes.filter((node) => isDegraded(node) && isShown(node.id));
  return (
    <div class="flex wrap dim wraps coverage" role="status">
      {isComplete ? (
        <span class="flex ok">
          <Icon name="check" />
        </span>
      ) : null}
      {total ? <b>{total}</b> : null}
      {texts.map((text) => (
        <span key={text}>{text}</span>
      ))}
      {state.duplicates.length > 0 ? (
        <span
          data-tip={state.duplicates
            .map(({ node, file, sameAs }) => `${node} ${file}: same text as ${sameAs}`)
            .join('\n')}
        >
          {state.duplicates.length} {state.duplicates.length === 1 ? 'copy' : 'copies'} skipped
        </span>
      ) : null}
      {skipped.length > 0 ? <SkippedFiles files={skipped} /> : null}
      {failed.length > 0 ? (
        <span
          class="warning"
          data-tip={failed.map(({ node, file, detail }) => `${node} ${file}: ${detail}`).join('\n')}
        >
          {formatCounted(failed.length, 'file')} only partly read
        </span>
      ) : null}
      {degraded.map(({ id, problems }) => (
        <span key={id} class="warning">
          <b>{id}</b> is degraded: {problemText(problems)}
        </span>
      ))}
      {missing.length > 0 ? (
        <span class="warning" data-tip={missing.map((part) => missingText(part)).join('\n')}>
          {missingSummary(missing, zone)} · <LinkButton onClick={onRetry}>retry</LinkButton>
        </span>
      ) : null}
    </div>
  );
}

/** `storage-3 recorded until 03:15:42`, `2 nodes in part` */
function missingSummary(missing: ReturnType<typeof missingOfMember>, zone: ZoneName): string {
  const [first] = missing;
  const nodes = [...new Set(missing.map(({ node }) => node))];
  if (first?.node && nodes.length === 1)
    return first.asOfMs === null
      ? missingText({ ...first, detail: first.reason === 'part' ? first.detail : null })
      : `${first.node} does not respond, its records end ${formatSecond(first.asOfMs, zone)}`;
  return `${nodes.length} nodes not or only partly read`;
}

/** Names the files that are not included, with links to those that are text. */
function SkippedFiles({ files }: { files: readonly ShownProblem[] }) {
  const more = files.length - MAX_NAMED;
  return (
    <span data-tip={files.map(({ node, file, detail }) => `${node} ${file}: ${detail}`).join('\n')}>
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
    </span>
  );
}

export type CoverageInput = Pick<
  WorkspaceState,
  'follow' | 'histogram' | 'filter' | 'top' | 'bottom' | 'rows' | 'members' | 'problems'
>;

/** The parts of the line: the number of records, and what was read of what. */
export function coverageTexts(
  state: CoverageInput,
  { zone, nowMs }: { zone: ZoneName; nowMs: number },
): { total: string; isComplete: boolean; texts: string[] } {
  const { histogram, filter, members, top } = state;
  const minLevel = filter.minLevel ?? null;
  const isCounted = histogram !== null && !isPartialCount(histogram);
  const hidden = histogram ? hiddenBelow(histogram, minLevel) : 0;
  const all = histogram ? Object.values(levelSums(histogram.buckets)).reduce((sum, count) => sum + count, 0) : 0;
  const more = isCounted ? '' : '+';
  const count = all - hidden;
  // Nothing found in a part is no number of records.
  const isKnown = histogram !== null && (isCounted || count > 0);
  const total = isKnown ? `${formatCount(count)}${more} ${count === 1 && isCounted ? 'record' : 'records'}` : '';
  const isComplete = isCounted && !isPart(state);
  const responded = members.filter(({ outcome }) => outcome === 'ok').length;
  return {
    total,
    isComplete,
    texts: [
      hidden > 0 ? `of ${formatCount(all)}${more}` : '',
      isComplete && members.length > 1 ? `all ${members.length} nodes, nothing left out` : '',
      !isComplete && members.length > 1 && responded < members.length ? respondedText(members) : '',
      scanText(top, zone, nowMs),
      archiveText(members),
    ].filter((text) => text !== ''),
  };
}

/** How much was read, and how far back where that is not everything. */
function scanText(top: WorkspaceState['top'], zone: ZoneName, nowMs: number): string {
  if (top.kind === 'done' && top.scannedBytes > 0) return `${formatBytes(top.scannedBytes)} read`;
  if (top.kind !== 'stopped' || top.reachedMs === null) return '';
  return `${formatBytes(top.scannedBytes)} read, back to ${formatShortTime(top.reachedMs, zone, nowMs)}`;
}

/** Whether records are no longer on the disk of their node, or were never looked for there. */
function archiveText(members: WorkspaceState['members']): string {
  const count = members.reduce((sum, { archive }) => sum + (archive?.count ?? 0), 0);
  return count === 0 ? '' : `${formatCount(count)} from the archive`;
}

/** Code of files that are only read when selected by name: binary, or without timestamps. */
const LEFT_OUT = 'LEFT_OUT';

export function skippedFiles(problems: readonly ShownProblem[]): ShownProblem[] {
  return problems.filter(({ code }) => code === LEFT_OUT);
}

/** `4.8 lines/s · lag 1.1 s` */
export function rateText({ state, linesPerSecond, lagMs }: FollowStatus): string {
  if (state === 'off') return '';
  const isWhole = linesPerSecond >= 10 || linesPerSecond < 0.05;
  const rate = isWhole ? formatCount(Math.round(linesPerSecond)) : linesPerSecond.toFixed(1);
  return `${rate} lines/s${lagMs === null ? '' : ` · lag ${formatSpan(Math.max(0, lagMs))}`}`;
}

interface WorkspaceFailureProps {
  failure: WorkspaceState['failure'];
  onRetry: () => void;
  /** Ways out that are not the same once more. */
  children: ComponentChildren;
}

/** Why nothing can be shown. */
export function WorkspaceFailure({ failure, onRetry, children }: WorkspaceFailureProps) {
  const isOffline = useResource(cluster).failure?.status === null;
  // That the node does not respond is said above the page.
  if (!failure || (isOffline && failure.code === 'UNREACHABLE')) return null;
  return (
    <div class="notice is-err" role="alert">
      <p>
        <code>{failure.code}</code> {failure.detail}
      </p>
      {children}
      <Button onClick={onRetry}>Try again</Button>
    </div>
  );
}

/** Minimum time between announcements to screen readers. */
const EVERY_MS = 5000;

export function LiveSummary({ workspace }: { workspace: LogWorkspace }) {
  const [text, setText] = useState('');
  useEffect(() => {
    let before = newCounts(workspace, null);
    const timer = setInterval(() => {
      const now = newCounts(workspace, before);
      before = now;
      const errors = now.errors === 0 ? '' : `, ${formatCounted(now.errors, 'error')}`;
      setText(now.records === 0 ? '' : `${formatCounted(now.records, 'new line')}${errors}`);
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [workspace]);
  return (
    <p class="sr-only" role="status" aria-live="polite">
      {text}
    </p>
  );
}

interface NewCounts {
  /** The last row, and how many records and errors waited after it. */
  key: string;
  waiting: { records: number; errors: number };
  records: number;
  errors: number;
}

/** What came since the last time: rows after the one that was last then, and what waits while paused. */
function newCounts({ state: { rows, follow } }: LogWorkspace, before: NewCounts | null): NewCounts {
  const waiting = { records: follow.newRecords, errors: follow.newErrors };
  const key = rows.at(-1)?.key ?? '';
  if (!before || follow.state !== 'live') {
    const since = before?.waiting ?? waiting;
    const more = (name: 'records' | 'errors') => Math.max(0, waiting[name] - since[name]);
    return { key, waiting, records: more('records'), errors: more('errors') };
  }
  const last = rows.findLastIndex((row) => row.key === before.key);
  const added = rows.slice(last + 1).filter((row) => row.kind === 'record');
  const errors = added.filter(({ record: { level } }) => level === 'ERROR' || level === 'FATAL').length;
  return { key, waiting, records: before.key === '' ? 0 : added.length, errors: before.key === '' ? 0 : errors };
}
