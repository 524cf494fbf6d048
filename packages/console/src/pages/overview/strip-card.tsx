import type { ClusterNode } from '@porthole/client';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ShownEvent } from '../../events/event-text.ts';
import { groupByLabel, groupedBy, type LabelGroup } from '../../state/labels.ts';
import type { OverviewView } from '../../state/view.ts';
import { Card, Chip, LinkButton } from '../../ui/controls.tsx';
import { formatCounted, formatSpan } from '../../ui/format.ts';
import { type ErrorStrip, errorsText, sumCells } from '../nodes/error-counts.ts';
import { CellsPicture, StripArea, StripRow } from '../nodes/error-strip.tsx';
import { isMissing, trouble, worstFirst } from '../nodes/node-health.ts';

interface StripProps {
  nodes: readonly ClusterNode[];
  /** Without what all of them share. */
  names: ReadonlyMap<string, string>;
  strip: ErrorStrip | null;
  events: readonly ShownEvent[];
  view: OverviewView;
  /** Chooses nodes. */
  filter: ComponentChildren;
}

/** More rows are a wall: the calm ones wait behind a button. */
const MAX_ROWS = 14;

/** About the width of a letter of a name, and the most that names take from the cells. */
const NAME_PX = 7.2;
const MOST_PX = 180;

/** Errors of each node over time, and what happened to it: grouped, and the worst first, if there are many. */
export function StripCard({ nodes, strip, view, filter, ...rest }: StripProps) {
  const by = groupedBy(nodes, view.by);
  const isMany = nodes.length > MAX_ROWS;
  const errorsOf = ({ id, recentErrors }: ClusterNode) => strip?.byNode.get(id)?.errors ?? recentErrors ?? 0;
  const ordered = isMany ? worstFirst(nodes, errorsOf) : nodes;
  const groups = groupByLabel(ordered, by, (own) => isMany && own.some(isMissing));
  // Of a group only those in trouble are shown; without groups, as many as there is room for.
  const isWorth = (node: ClusterNode) => !isMany || by === null || trouble(node, errorsOf(node)) > 0;
  const room = isMany ? Math.max(2, Math.floor(MAX_ROWS / groups.length)) : nodes.length;
  const sums = groups.map((group) => sumCells(group.nodes.flatMap(({ id }) => strip?.byNode.get(id) ?? [])));
  const most = Math.max(1, ...sums.flatMap(({ cells }) => cells.map((count) => count ?? 0)));
  const longest = Math.max(...nodes.map(({ id }) => (rest.names.get(id) ?? id).length));
  const namesPx = Math.round(Math.min(MOST_PX, 36 + NAME_PX * longest));
  return (
    <Card
      id="strip-title"
      title="Errors by node"
      aside={
        <>
          <span class="faint">
            {strip && `one cell is ${formatSpan(strip.range.bucketMs)}`}
            <span class="fine-pointer">{strip && ' · '}drag over a time to see what happened</span>
          </span>
          <span class="strip-legend" aria-hidden="true">
            <Chip icon="config">configuration</Chip>
            <Chip icon="restart">restart</Chip>
            <Chip icon="gone">gone</Chip>
          </span>
          {filter}
        </>
      }
    >
      <StripArea range={strip?.range} labels={view.labels} namesPx={namesPx}>
        {groups.map((group, index) => (
          <Group
            key={group.label}
            {...{ group, strip, view, ...rest }}
            shown={group.nodes.filter(isWorth).slice(0, room)}
            head={
              by !== null && (
                <div class="strip-row strip-group">
                  <h3 class="node-name">
                    <span class="cut">{group.label?.replace(/^role=/, '') ?? `no ${by}`}</span>
                  </h3>
                  <div class="cells" data-tip={errorsText(sums[index])}>
                    <CellsPicture id={group.label ?? `no ${by}`} cells={sums[index]} most={most} by={1} />
                  </div>
                </div>
              )
            }
          />
        ))}
      </StripArea>
    </Card>
  );
}

interface GroupProps extends Omit<StripProps, 'nodes' | 'filter'> {
  group: LabelGroup<ClusterNode>;
  shown: readonly ClusterNode[];
  head: ComponentChildren;
}

function Group({ group: { label, nodes }, shown, head, names, ...rest }: GroupProps) {
  const [isAll, setAll] = useState(false);
  const hidden = nodes.length - shown.length;
  return (
    <section aria-label={label ?? undefined}>
      {head}
      {(isAll ? nodes : shown).map((node) => (
        <StripRow
          key={node.id}
          {...{ node, ...rest }}
          labels={rest.view.labels}
          range={rest.view.range}
          name={names.get(node.id) ?? node.id}
        />
      ))}
      {hidden > 0 && (
        <p class="dim strip-more">
          <LinkButton aria-expanded={isAll} onClick={() => setAll(!isAll)}>
            {isAll ? 'Show fewer' : `${formatCounted(hidden, shown.length === 0 ? 'node' : 'calmer node')}`}
          </LinkButton>
        </p>
      )}
    </section>
  );
}
