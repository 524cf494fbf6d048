import type { ClusterNode } from '@porthole/client';
import { missingOfMember, reportText } from '@porthole/contract';
import { groupByLabel, type LabelGroup, labelTexts, toggleLabel } from '../../state/labels.ts';
import { preferences } from '../../state/preferences.ts';
import { nodeLogs, nodeView, recordedView, type View } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { NodeDot } from '../../ui/controls.tsx';
import { formatAge, formatCount, formatSecond, formatShortTime } from '../../ui/format.ts';
import { useStore } from '../../ui/hooks.ts';
import { Unknown } from '../../ui/notes.tsx';
import { groupErrors, RECENT_MS, type RecentCounts } from './node-counts.ts';
import {
  asOfText,
  clockText,
  errorsText,
  headline,
  isClockOff,
  isDegraded,
  isShippingBad,
  isSilent,
  lagText,
  majorityVersion,
  stateText,
  waitingText,
} from './node-health.ts';

/** Columns of the table, without that of the archive. */
const COLUMNS = 10;

interface NodeTableProps {
  nodes: readonly ClusterNode[];
  /** The filter of the page. */
  labels: readonly string[];
  /** The label they are grouped by. */
  by: string | null;
  counts: RecentCounts | null;
  nowMs: number;
}

interface NodeCountProps {
  node: ClusterNode;
  counts: RecentCounts | null;
  kind: 'errors' | 'warnings';
}

export function NodeTable({ nodes, labels, by, counts, nowMs }: NodeTableProps) {
  const majority = majorityVersion(nodes);
  const hasArchive = nodes.some(({ archive }) => archive !== undefined);
  return (
    <div class="card table-frame">
      <table class="data-table node-table">
        <caption class="sr-only">Nodes of the cluster</caption>
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">Role</th>
            <th scope="col">State</th>
            <th scope="col" class="number">
              Errors 15 min
            </th>
            <th scope="col" class="number">
              Warnings
            </th>
            <th scope="col">Last line</th>
            {hasArchive && <th scope="col">Archive</th>}
            <th scope="col">Clock</th>
            <th scope="col">Version</th>
            <th scope="col">Up since</th>
            <th scope="col">
              <span class="sr-only">Links</span>
            </th>
          </tr>
        </thead>
        {groupByLabel(nodes, by).map((group) => (
          <tbody key={group.label}>
            {by !== null && <GroupRow {...{ by, group, labels, counts, hasArchive }} />}
            {group.nodes.map((node) => (
              <NodeRow
                key={node.id}
                {...{ node, labels, by, counts, nowMs, hasArchive }}
                isQuiet={isSilent(node, nodes, nowMs)}
                isOddVersion={majority !== null && node.node.version !== '' && node.node.version !== majority}
              />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

interface NodeRowProps extends Omit<NodeTableProps, 'nodes'> {
  node: ClusterNode;
  /** Some node ships to the archive: all have this column. */
  hasArchive: boolean;
  isQuiet: boolean;
  isOddVersion: boolean;
}

interface GroupRowProps extends Pick<NodeTableProps, 'labels' | 'counts'> {
  by: string;
  group: LabelGroup<ClusterNode>;
  hasArchive: boolean;
}

/** `zone=eu-1 · 2 of 3 nodes up · 14 errors` */
function GroupRow({ by, group: { label, nodes }, labels, counts, hasArchive }: GroupRowProps) {
  return (
    <tr class="group-row">
      <th scope="rowgroup" colSpan={COLUMNS + (hasArchive ? 1 : 0)}>
        {label === null ? <span class="dim">no {by}</span> : <LabelLink label={label} labels={labels} by={by} />}{' '}
        <span class="dim">
          · {headline(nodes)}
          {counts && ` · ${errorsText(nodes, groupErrors(nodes, counts)).text}`}
        </span>
      </th>
    </tr>
  );
}

/** Adds a label to the filter, or removes it. */
function LabelLink({ label, labels, by }: { label: string; labels: readonly string[]; by: string | null }) {
  const isOn = labels.includes(label);
  return (
    <a
      class="dim wraps label-link"
      aria-current={isOn ? 'true' : undefined}
      title={isOn ? `Show nodes without ${label}, too` : `Show only nodes with ${label}`}
      href={viewUrl({ page: 'nodes', labels: toggleLabel(labels, label), by })}
    >
      {label}
    </a>
  );
}

function NodeRow({ node, labels, by, counts, nowMs, hasArchive, isQuiet, isOddVersion }: NodeRowProps) {
  const isUp = node.state === 'up';
  return (
    <tr class={isUp ? undefined : 'is-missing'}>
      <th scope="row">
        <NodeName id={node.id} isDim={!isUp} /> <span class="address">{nodeAddress(node)}</span>{' '}
        <span class="wrap node-labels">
          {labelTexts(node).map((label) => (
            <LabelLink key={label} label={label} labels={labels} by={by} />
          ))}
        </span>
      </th>
      <td data-name="Role">{node.role}</td>
      <td
        data-name="State"
        class={isUp && !isDegraded(node) ? 'ok' : 'problem'}
        title={node.report.detail ?? undefined}
      >
        {[stateText(node), asOfText(node, nowMs)].filter(Boolean).join(' · ')}
      </td>
      <td data-name="Errors 15 min" class="number">
        <NodeCount node={node} counts={counts} kind="errors" />
      </td>
      <td data-name="Warnings" class="number">
        <NodeCount node={node} counts={counts} kind="warnings" />
      </td>
      <td data-name="Last line">
        <LastLine node={node} nowMs={nowMs} isQuiet={isQuiet} />
      </td>
      {hasArchive && (
        <td data-name="Archive">
          <ArchiveLag node={node} />
        </td>
      )}
      <td data-name="Clock">
        <Clock node={node} />
      </td>
      <td data-name="Version" class={isOddVersion ? 'version warning' : 'version'}>
        <span title={isOddVersion ? 'most nodes run another version' : undefined}>
          {node.node.version || <Unknown why="version not reported" />}
          {isOddVersion && <span class="sr-only"> (most nodes run another version)</span>}
        </span>
      </td>
      <td data-name="Up since">
        <UpSince node={node} nowMs={nowMs} />
      </td>
      <td class="row-links">
        <RowLinks node={node} />
      </td>
    </tr>
  );
}

function LastLine({ node: { lastRecordMs }, nowMs, isQuiet }: { node: ClusterNode; nowMs: number; isQuiet: boolean }) {
  const zone = useStore(preferences.zone);
  if (lastRecordMs === null) return <Unknown why="time of the last line not reported" />;
  return (
    <span class={isQuiet ? 'warning' : undefined} title={formatSecond(lastRecordMs, zone)}>
      {formatAge(lastRecordMs, nowMs)}
      {isQuiet && ' · silent'}
    </span>
  );
}

/** How far it is behind in shipping its logs. */
function ArchiveLag({ node }: { node: ClusterNode }) {
  const { archive, state } = node;
  if (!archive || state !== 'up')
    return <Unknown why={state === 'up' ? 'ships nothing to the archive, or does not report it' : 'not responding'} />;
  return (
    <span class={isShippingBad(node) ? 'warning' : undefined} title={waitingText(archive)}>
      {lagText(archive)}
    </span>
  );
}

function UpSince({ node, nowMs }: { node: ClusterNode; nowMs: number }) {
  const zone = useStore(preferences.zone);
  const { onlineTime } = node.node;
  // Zero: the registry lists it, but it has never responded.
  if (!onlineTime) return <Unknown why="not responding" />;
  return <span title={formatSecond(onlineTime, zone)}>{formatShortTime(onlineTime, zone, nowMs)}</span>;
}

function Clock({ node: { clock, isSelf, state } }: { node: ClusterNode }) {
  if (isSelf) return <span title="other clocks are compared with this one">this node's clock</span>;
  if (!clock || state !== 'up') return <Unknown why="clock not compared: the node is not responding" />;
  return (
    <span class={isClockOff(clock) ? 'warning' : undefined} title="ahead (+) or behind (−); timestamps are corrected">
      {clockText(clock)}
    </span>
  );
}

function RowLinks({ node: { id, state } }: { node: ClusterNode }) {
  if (state !== 'up')
    return (
      <a class="problem" href={viewUrl(recordedView(id))}>
        recorded lines →
      </a>
    );
  const logs: View = nodeLogs(id);
  return (
    <>
      <a href={viewUrl(nodeView(id, 'config'))} aria-label={`configuration of ${id}`}>
        config
      </a>
      <span aria-hidden="true"> · </span>
      <a href={viewUrl(logs)} aria-label={`logs of ${id}`}>
        logs
      </a>
    </>
  );
}

function nodeAddress({ node: { hostIp, httpPort } }: ClusterNode): string {
  return hostIp.includes(':') ? `[${hostIp}]:${httpPort}` : `${hostIp}:${httpPort}`;
}

/** Errors or warnings of a node in the last 15 minutes, linked to the records. */
function NodeCount({ node, counts, kind }: NodeCountProps) {
  const counted = counts?.byNode.get(node.id);
  // Until they are counted: another count, which may be of another minute.
  const earlier = counts === null && kind === 'errors' && node.state === 'up' ? node.recentErrors : null;
  const count = counted?.[kind] ?? earlier;
  const isPartial = counted?.isPartial === true;
  if (count === null || (isPartial && count === 0)) return <Unknown why={whyUnknown({ node, counts })} />;
  if (count === 0) return <>0</>;
  const range = { kind: 'last', spanMs: RECENT_MS } as const;
  const minLevel = kind === 'errors' ? 'ERROR' : 'WARN';
  const href = viewUrl({ ...nodeLogs(node.id), range, minLevel });
  return (
    <a class={kind === 'errors' ? 'count-link problem' : 'count-link'} href={href}>
      {isPartial && '≥ '}
      {formatCount(count)}
    </a>
  );
}

function whyUnknown({ node, counts }: Pick<NodeCountProps, 'node' | 'counts'>): string {
  if (node.state !== 'up') return 'not responding';
  if (!counts) return 'counting';
  const report = counts.members.find(({ id }) => id === node.id);
  return report && missingOfMember(report).length > 0 ? reportText(report) : 'not counted in time';
}

/** The id of a node with its colour, linked to its page. */
function NodeName({ id, isDim = false }: { id: string; isDim?: boolean }) {
  return (
    <a class="node-name" href={viewUrl(nodeView(id))}>
      <NodeDot id={id} isOff={isDim} />
      {id}
    </a>
  );
}
