import type { ClusterNode } from '@porthole/client';
import { isLabelPattern, matchesLabels } from '@porthole/contract';
import { useMemo } from 'preact/hooks';
import { groupByLabel, groupedBy, hasLabels, labelTexts } from '../../state/labels.ts';
import { navigation } from '../../state/navigation.ts';
import { preferences } from '../../state/preferences.ts';
import { cluster } from '../../state/resource.ts';
import { ALL_NODES, type NodesView, nodeView, withRange } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { NodeDot } from '../../ui/controls.tsx';
import { formatCount, formatSecond, formatSpan } from '../../ui/format.ts';
import { useNow, useResource, useStore } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { GroupBy, LabelChips } from '../../ui/label-filter.tsx';
import { LoadedNote, PartialNote } from '../../ui/notes.tsx';
import { type ErrorStrip, errorsText, sumCells } from './error-counts.ts';
import { CellsPicture } from './error-strip.tsx';
import {
  hiddenText,
  isMissing,
  lostMs,
  nodeNotes,
  nodesText,
  shortNames,
  stateText,
  stateWord,
  worstFirst,
} from './node-health.ts';
import { useDrift, useStrip } from './node-resources.ts';
import { differingKeys, driftRows } from './node-settings.tsx';

/** Columns of the table. */
const COLUMNS = 6;

/** Minutes in a cell of a row, if the strip has one each. */
const CELLS_IN_ONE = 3;

/** All nodes, or those that were searched for: their state, errors and what is notable. */
export function NodesPage({ view }: { view: NodesView }) {
  const loaded = useResource(cluster);
  const { value } = loaded;
  const note = <LoadedNote loaded={loaded} what="The nodes" />;
  if (!value) return note;
  const nodes = value.nodes.filter((node) => hasLabels(node, view.labels) && isFound(node, view.text));
  const hidden = hiddenText(value.nodes, nodes);
  const go = (change: Partial<NodesView>, replace = false) => navigation.go({ ...view, ...change }, { replace });
  return (
    <div class="stack">
      {note}
      <div class="flex wrap page-head">
        <div>
          <h1>{nodes.length === 0 ? 'No such node' : nodesText(nodes)}</h1>
          {hidden && (
            <p class="dim">
              {hidden} · <a href={viewUrl(ALL_NODES)}>show all</a>
            </p>
          )}
        </div>
        <div class="flex wrap node-tools">
          <LabelChips labels={view.labels} onLabels={(labels) => go({ labels })} />
          <div class="search-field">
            <Icon name="search" />
            <input
              type="search"
              aria-label="Find nodes"
              placeholder="Name, role or zone=eu-1"
              spellcheck={false}
              value={view.text}
              onInput={({ currentTarget }) => go({ text: currentTarget.value }, true)}
            />
          </div>
          <GroupBy by={view.by} onBy={(by) => go({ by })} />
        </div>
      </div>
      {nodes.length > 0 && <NodeTable view={view} nodes={nodes} all={value.nodes} />}
    </div>
  );
}

/** Whether a node has every word in its name, role or labels; `zone=eu-*` is a pattern of a label. */
export function isFound(node: ClusterNode, text: string): boolean {
  const about = [node.id, node.role, ...labelTexts(node)].join('\n').toLowerCase();
  const words = text.trim().split(/\s+/);
  return words.every(
    (word) => about.includes(word.toLowerCase()) || (isLabelPattern(word) && matchesLabels(node.labels ?? {}, [word])),
  );
}

function NodeTable({
  view,
  nodes,
  all,
}: {
  view: NodesView;
  nodes: readonly ClusterNode[];
  all: readonly ClusterNode[];
}) {
  const strips = useStrip({ labels: [], range: view.range });
  const strip = strips.value;
  const drift = useDrift([]).value;
  const nowMs = useNow(10_000);
  const differing = useMemo(() => differingKeys(drift ? driftRows(drift) : []), [drift]);
  const names = useMemo(() => shortNames(all.map(({ id }) => id)), [all]);
  const by = groupedBy(nodes, view.by);
  const missing = nodes.filter(isMissing).map(({ id }) => id);
  return (
    <>
      <LoadedNote loaded={strips} what="The counts" loading="the counts of all nodes" />
      <div class="card">
        <table class="data-table node-table">
          <caption class="sr-only">Nodes of the cluster</caption>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">{by === 'role' ? 'Labels' : 'Role'}</th>
              <th scope="col">State</th>
              <th scope="col">Errors</th>
              <th scope="col">Version</th>
              <th scope="col">
                <span class="sr-only">Notes</span>
              </th>
            </tr>
          </thead>
          {groupByLabel(worstFirst(nodes), by, (own) => own.some(isMissing)).map((group) => (
            <tbody key={group.label}>
              {by !== null && (
                <tr class="group-row">
                  <th scope="rowgroup" colSpan={COLUMNS}>
                    <b>{group.label?.replace(/^role=/, '') ?? `no ${by}`}</b>{' '}
                    <span class="dim">
                      · {nodesText(group.nodes)}
                      {strip &&
                        ` · ${errorsText(sumCells(group.nodes.flatMap(({ id }) => strip.byNode.get(id) ?? [])))}`}
                    </span>
                  </th>
                </tr>
              )}
              {group.nodes.map((node) => (
                <NodeRow
                  key={node.id}
                  {...{ node, strip, view, nowMs }}
                  name={names.get(node.id) ?? node.id}
                  isInRole={by === 'role'}
                  notes={nodeNotes(node, all, { nowMs, differing: differing.get(node.id) ?? 0 })}
                />
              ))}
            </tbody>
          ))}
        </table>
        {/* Their rows say that they are gone. */}
        {strip && <PartialNote response={strip} known={missing} onRetry={strips.reload} />}
      </div>
    </>
  );
}

interface NodeRowProps {
  node: ClusterNode;
  name: string;
  strip: ErrorStrip | null;
  notes: readonly string[];
  /** Its group names its role. */
  isInRole: boolean;
  view: NodesView;
  nowMs: number;
}

/** One link: to the page of the node. */
function NodeRow({ node, name, strip, notes, isInRole, view, nowMs }: NodeRowProps) {
  const zone = useStore(preferences.zone);
  const { id, role, state } = node;
  const cells = strip?.byNode.get(id);
  const word = stateWord(node);
  const goneMs = lostMs(
    node,
    strip?.members.find((member) => member.id === id),
  );
  return (
    <tr class={isMissing(node) ? 'is-missing' : undefined}>
      <th scope="row">
        <a
          class="node-name row-link"
          href={viewUrl(withRange(nodeView(id), view.range))}
          data-tip={id === name ? undefined : id}
        >
          <NodeDot id={id} />
          <span class="cut">{name}</span>
        </a>
      </th>
      <td data-name="Role">
        {!isInRole && role} <span class="dim">{labelTexts(node).join(' · ')}</span>
      </td>
      <td data-name="State" data-tip={stateText(node)}>
        <span class={isMissing(node) ? 'problem' : word === 'degraded' ? 'warning' : undefined}>{word}</span>{' '}
        <span class="dim">
          {state === 'up'
            ? node.node.onlineTime > 0 &&
              `${word === 'up' ? 'for' : 'up for'} ${formatSpan(nowMs - node.node.onlineTime)}`
            : goneMs !== null && `since ${formatSecond(goneMs, zone)}`}
        </span>
      </td>
      <td data-name="Errors">
        <div class="flex mini-strip">
          {strip && <CellsPicture id={id} cells={cells} most={strip.most} by={CELLS_IN_ONE} />}
          <span class={cells?.errors ? 'problem number' : 'faint number'}>
            {cells && (cells.errors > 0 || cells.cells.some((count) => count !== null))
              ? formatCount(cells.errors)
              : '–'}
          </span>
        </div>
      </td>
      <td data-name="Version" class="mono">
        {node.node.version || '–'}
      </td>
      <td class="warning wraps">{notes.join(' · ')}</td>
    </tr>
  );
}
