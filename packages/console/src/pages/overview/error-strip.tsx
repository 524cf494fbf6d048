import type { ClusterNode } from '@porthole/client';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { eventClass, type ShownEvent, spacedEvents } from '../../events/event-text.ts';
import { groupByLabel } from '../../state/labels.ts';
import { preferences } from '../../state/preferences.ts';
import { nodeLogs, nodeView, type ZoneName } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Card, Chip, LinkButton, NodeDot, Skeleton } from '../../ui/controls.tsx';
import { nextStop } from '../../ui/count-chart.tsx';
import { formatCounted, formatMinute, formatSecond, formatShortTime, formatSpan } from '../../ui/format.ts';
import { useStore } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { isDegraded, stateText } from '../nodes/node-health.ts';
import type { ErrorStrip, NodeCells, StripRange } from './overview-resources.ts';

interface StripProps {
  nodes: readonly ClusterNode[];
  /** Without what all of them share. */
  names: ReadonlyMap<string, string>;
  strip: ErrorStrip | null;
  events: readonly ShownEvent[];
  /** The label they are grouped by. */
  by: string | null;
  /** Chooses nodes. */
  filter: ComponentChildren;
}

/** More rows are a wall: the calm ones wait behind a button. */
const MAX_ROWS = 14;

const TICKS = 5;

/** Cells that a mark covers. */
const FLAG_CELLS = 2;

/** Errors of each node over time, and what happened to it: the worst first if there are many. */
export function StripCard({ nodes, names, strip, events, by, filter }: StripProps) {
  const [isAll, setAll] = useState(false);
  const isMany = nodes.length > MAX_ROWS;
  const ordered = isMany ? nodes.toSorted((a, b) => trouble(b, strip) - trouble(a, strip)) : nodes;
  const shown = isMany && !isAll ? ordered.slice(0, MAX_ROWS) : ordered;
  const range = strip?.range;
  return (
    <Card
      id="strip-title"
      class="strip"
      title="Errors by node"
      aside={
        <>
          <span class="faint">{range ? `one cell is ${formatSpan(range.bucketMs)}` : ''}</span>
          <span class="strip-legend" aria-hidden="true">
            <Chip icon="config">configuration</Chip>
            <Chip icon="restart">restart</Chip>
            <Chip icon="gone">gone</Chip>
          </span>
          {filter}
        </>
      }
    >
      <div class="strip-body">
        {groupByLabel(shown, by).map((group) => (
          <section key={group.label} aria-label={group.label ?? undefined}>
            {by !== null && <h3>{group.label ?? `no ${by}`}</h3>}
            {group.nodes.map((node) => (
              <StripRow
                key={node.id}
                node={node}
                name={names.get(node.id) ?? node.id}
                cells={strip?.byNode.get(node.id)}
                strip={strip}
                events={events.filter((event) => event.node === node.id)}
              />
            ))}
          </section>
        ))}
        {range && <StripAxis range={range} />}
      </div>
      {isMany && (
        <p class="dim wraps card-note strip-more">
          {isAll ? '' : `${formatCounted(nodes.length - shown.length, 'calmer node')} not shown · `}
          <LinkButton onClick={() => setAll(!isAll)}>{isAll ? 'Show fewer' : `Show all ${nodes.length}`}</LinkButton>
        </p>
      )}
    </Card>
  );
}

/** Whoever is gone or degraded comes first, then who has the most errors. */
function trouble(node: ClusterNode, strip: ErrorStrip | null): number {
  const state = node.state === 'left' ? -1 : node.state !== 'up' ? 2e9 : isDegraded(node) ? 1e9 : 0;
  return state + (strip?.byNode.get(node.id)?.errors ?? node.recentErrors ?? 0);
}

interface StripRowProps {
  node: ClusterNode;
  name: string;
  cells: NodeCells | undefined;
  strip: ErrorStrip | null;
  events: readonly ShownEvent[];
}

function StripRow({ node, name, cells, strip, events }: StripRowProps) {
  const isUp = node.state === 'up';
  return (
    <div class={`strip-row ${isUp ? '' : 'is-gone'}`}>
      <a
        class="node-name"
        href={viewUrl(nodeView(node.id))}
        aria-label={node.id}
        data-tip={`${node.id}\n${stateText(node)}`}
      >
        <NodeDot id={node.id} />
        <span class={`cut ${isUp ? '' : 'problem'}`}>{name}</span>
      </a>
      {strip ? <Cells node={node} cells={cells} strip={strip} events={events} /> : <Skeleton height={22} />}
    </div>
  );
}

/** One tab stop; arrow keys move between cells, Enter opens the errors of one. */
function Cells({ node, cells, strip, events }: Omit<StripRowProps, 'name' | 'strip'> & { strip: ErrorStrip }) {
  const zone = useStore(preferences.zone);
  const { range, most } = strip;
  const list = useRef<HTMLUListElement>(null);
  const [stop, setStop] = useState(range.count - 1);
  const press = (event: KeyboardEvent) => {
    const next = nextStop(event.key, stop, range.count);
    if (next === undefined) return;
    event.preventDefault();
    setStop(next);
    list.current?.querySelectorAll<HTMLElement>('.cell')[next]?.focus();
  };
  return (
    <div class="cells">
      <ul ref={list} aria-label={rowSummary(node.id, cells)} onKeyDown={press}>
        {Array.from({ length: range.count }, (_, index) => {
          const startMs = range.fromMs + index * range.bucketMs;
          const count = cells?.cells[index] ?? null;
          const text = `${formatSecond(startMs, zone)}: ${cellText(count, node)}`;
          return (
            <li key={startMs}>
              {/* biome-ignore lint/a11y/useAnchorContent: a colour, which its label says in words */}
              <a
                class={`cell ${count === null ? 'hatched' : ''}`}
                style={count ? { '--heat': `${heat(count, most)}%` } : {}}
                href={viewUrl({
                  ...nodeLogs(node.id),
                  range: { kind: 'fixed', fromMs: startMs, toMs: startMs + range.bucketMs },
                  minLevel: count ? 'ERROR' : null,
                  isLive: false,
                })}
                tabIndex={index === stop ? 0 : -1}
                aria-label={text}
                data-tip={text}
                onFocus={() => setStop(index)}
              />
            </li>
          );
        })}
      </ul>
      {flagsOf(events, range).map((flag) => (
        <Flag
          key={flag.key}
          event={flag}
          share={(flag.timeMs - range.fromMs) / (range.toMs - range.fromMs)}
          zone={zone}
        />
      ))}
    </div>
  );
}

function cellText(count: number | null, { state }: ClusterNode): string {
  if (count === null) return state === 'up' ? 'not read' : 'not responding';
  return count === 0 ? 'no errors' : formatCounted(count, 'error');
}

function rowSummary(id: string, cells: NodeCells | undefined): string {
  if (!cells) return `Errors of ${id}: not counted`;
  const isAll = cells.cells.every((count) => count !== null);
  return `Errors of ${id}: ${isAll ? '' : 'at least '}${cells.errors}`;
}

/** Square root: one error beside thousands stays visible. */
function heat(count: number, most: number): number {
  return Math.round(24 + 76 * Math.sqrt(count / Math.max(1, most)));
}

/** What changed, restarted or went away; rises are the cells themselves. */
function flagsOf(events: readonly ShownEvent[], { fromMs, toMs, bucketMs }: StripRange): ShownEvent[] {
  const isShown = ({ kind, timeMs }: ShownEvent) =>
    kind !== 'log-burst' && kind !== 'new-pattern' && timeMs >= fromMs && timeMs < toMs;
  return spacedEvents(events.filter(isShown), FLAG_CELLS * bucketMs);
}

function Flag({ event, share, zone }: { event: ShownEvent; share: number; zone: ZoneName }) {
  const { node, title, timeMs, icon, detail } = event;
  const text = `${formatSecond(timeMs, zone)} ${node} ${title}${detail ? `\n${detail}` : ''}`;
  return (
    <span
      role="img"
      class={`flag ${eventClass(event)}`}
      style={{ left: `${share * 100}%` }}
      aria-label={text}
      data-tip={text}
    >
      <Icon name={icon} />
    </span>
  );
}

function StripAxis({ range: { fromMs, toMs } }: { range: StripRange }) {
  const zone = useStore(preferences.zone);
  const isLong = toMs - fromMs > 86_400_000;
  return (
    <div class="faint strip-axis mono" aria-hidden="true">
      {Array.from({ length: TICKS }, (_, index) => {
        const timeMs = fromMs + (index / (TICKS - 1)) * (toMs - fromMs);
        return (
          <span key={index}>{isLong ? formatShortTime(timeMs, zone, Date.now()) : formatMinute(timeMs, zone)}</span>
        );
      })}
    </div>
  );
}
