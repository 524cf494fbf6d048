import type { ClusterNode } from '@porthole/client';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { eventClass, incidentAround, type ShownEvent, spacedEvents } from '../../events/event-text.ts';
import { navigation } from '../../state/navigation.ts';
import { preferences } from '../../state/preferences.ts';
import type { TimeRange } from '../../state/time-range.ts';
import { INCIDENTS, nodeLogs, nodeView, withRange } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { NodeDot, Skeleton } from '../../ui/controls.tsx';
import { formatCounted, formatMinute, formatSecond, formatShortTime } from '../../ui/format.ts';
import { useMedia, useStore } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { type ErrorStrip, errorsText, type NodeCells, type StripRange, widerCells } from './error-counts.ts';
import { stateText } from './node-health.ts';

const TICKS = 5;

/** Half as many cells can be told apart there. */
export const NARROW = '(max-width: 640px)';

/** A finger hits no cell: the row is one link. */
const TOUCH = `(pointer: coarse), ${NARROW}`;

/** One error is not the darkest, however few there are. */
const FEW = 10;

/** A shorter way of the pointer is a click. */
const DRAG_PX = 6;

interface StripAreaProps {
  range: StripRange | undefined;
  labels: readonly string[];
  /** Room for the names in front of the cells. */
  namesPx?: number;
  children: ComponentChildren;
}

/** Rows of cells with one axis. A range that is dragged over them leads to what happened in it. */
export function StripArea({ range, labels, namesPx = 0, children }: StripAreaProps) {
  const plot = useRef<HTMLDivElement>(null);
  const startX = useRef<number | null>(null);
  const [dragged, setDragged] = useState<{ from: number; to: number } | null>(null);
  const share = (x: number) => {
    const { left = 0, width = 1 } = plot.current?.getBoundingClientRect() ?? {};
    return Math.min(1, Math.max(0, (x - left) / width));
  };
  const move = (event: PointerEvent) => {
    if (startX.current === null || (!dragged && Math.abs(event.clientX - startX.current) < DRAG_PX)) return;
    // The click that follows is not one on a link.
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    const [from = 0, to = 0] = [startX.current, event.clientX].map(share).sort((a, b) => a - b);
    setDragged({ from, to });
  };
  const end = () => {
    startX.current = null;
    setDragged(null);
  };
  const up = () => {
    end();
    if (dragged && range) navigation.go({ ...INCIDENTS, labels, range: draggedRange(range, dragged) });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: by keyboard, the bar has the range and the page the button
    <div
      class="strip-body"
      style={{ '--names': `${namesPx}px` }}
      onPointerDown={(event) => {
        startX.current = event.button === 0 && event.pointerType !== 'touch' ? event.clientX : null;
      }}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={end}
      onDragStart={(event) => event.preventDefault()}
    >
      {children}
      {range && <StripAxis range={range} />}
      <div class="strip-plot" ref={plot}>
        {dragged && (
          <div
            class="strip-band"
            style={{ left: `${dragged.from * 100}%`, width: `${(dragged.to - dragged.from) * 100}%` }}
          />
        )}
      </div>
    </div>
  );
}

/** Whole cells. */
function draggedRange({ fromMs, bucketMs, count }: StripRange, { from, to }: { from: number; to: number }): TimeRange {
  const first = Math.floor(from * count);
  const last = Math.max(first + 1, Math.ceil(to * count));
  return { kind: 'fixed', fromMs: fromMs + first * bucketMs, toMs: fromMs + last * bucketMs };
}

interface StripCellsProps {
  node: ClusterNode;
  strip: ErrorStrip;
  /** Those of the node are marked. */
  events: readonly ShownEvent[];
  labels: readonly string[];
}

interface StripRowProps extends Omit<StripCellsProps, 'strip'> {
  /** Without what all names share. */
  name: string;
  strip: ErrorStrip | null;
  range: TimeRange | null;
}

/** A node by name, with its errors over time. */
export function StripRow({ node, name, range, strip, ...rest }: StripRowProps) {
  const isTouch = useMedia(TOUCH);
  const href = viewUrl(withRange(nodeView(node.id), range));
  const [Row, Name] = isTouch ? (['a', 'span'] as const) : (['div', 'a'] as const);
  const link = { href, 'aria-label': isTouch ? `${node.id}: ${stateText(node)}` : node.id };
  return (
    <Row class="strip-row" {...(isTouch && link)}>
      <Name class="node-name" data-tip={`${node.id}\n${stateText(node)}`} {...(!isTouch && link)}>
        <NodeDot id={node.id} />
        <span class={`cut ${node.state === 'up' ? '' : 'problem'}`}>{name}</span>
      </Name>
      {strip ? <StripCells node={node} strip={strip} {...rest} /> : <Skeleton height={22} />}
    </Row>
  );
}

/** One tab stop; arrow keys move between cells, Enter opens the errors of one. */
export function StripCells({ node, strip, events, labels }: StripCellsProps) {
  const zone = useStore(preferences.zone);
  const isTouch = useMedia(TOUCH);
  const isNarrow = useMedia(NARROW);
  const { range, most } = strip;
  const cells = strip.byNode.get(node.id);
  const flags = flagsOf(events, node.id, range, isNarrow ? 6 : 2);
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
      {isTouch ? (
        <CellsPicture id={node.id} cells={cells} most={most} by={isNarrow ? 2 : 1} />
      ) : (
        <ul ref={list} class="cell-row" aria-label={`${node.id}: ${errorsText(cells)}`} onKeyDown={press}>
          {Array.from({ length: range.count }, (_, index) => {
            const startMs = range.fromMs + index * range.bucketMs;
            const count = cells?.cells[index] ?? null;
            const text = `${formatSecond(startMs, zone)}: ${cellText(count, node)}`;
            return (
              <li key={startMs}>
                <a
                  {...cellStyle(count, most)}
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
      )}
      {flags.map((event) => {
        const { title, timeMs, icon, detail } = event;
        const text = `${formatSecond(timeMs, zone)} ${node.id} ${title}${detail ? `\n${detail}` : ''}`;
        const place = {
          class: `flag ${eventClass(event)}`,
          style: { '--at': `${((timeMs - range.fromMs) / (range.toMs - range.fromMs)) * 100}%` },
        };
        return isTouch ? (
          <span key={event.key} {...place} aria-hidden="true">
            <Icon name={icon} />
          </span>
        ) : (
          <a
            key={event.key}
            {...place}
            href={viewUrl(incidentAround(timeMs, labels))}
            aria-label={text}
            data-tip={`${text}\nClick: what happened`}
          >
            <Icon name={icon} />
          </a>
        );
      })}
    </div>
  );
}

interface CellsPictureProps {
  /** What it is about: a node, or a group of nodes. */
  id: string;
  cells: NodeCells | undefined;
  most: number;
  /** So many are one. */
  by: number;
}

/** Errors over time, only to look at. */
export function CellsPicture({ id, cells, most, by }: CellsPictureProps) {
  const wider = cells && widerCells(cells, by);
  return (
    <div class="cell-row" role="img" aria-label={`${id}: ${errorsText(cells)}`}>
      {wider?.cells.map((count, index) => (
        <i key={index} {...cellStyle(count, most * by)} />
      ))}
    </div>
  );
}

function cellStyle(count: number | null, most: number) {
  // Square root: one error beside thousands stays visible.
  const heat = Math.min(100, Math.round(24 + 76 * Math.sqrt((count ?? 0) / Math.max(FEW, most))));
  return { class: `cell ${count === null ? 'hatched' : ''}`, style: count ? { '--heat': `${heat}%` } : {} };
}

function cellText(count: number | null, { state }: ClusterNode): string {
  if (count === null) return state === 'up' ? 'not read' : 'not responding';
  return count === 0 ? 'no errors' : formatCounted(count, 'error');
}

/** What changed, restarted or went away; rises are the cells themselves. Marks do not cover each other. */
function flagsOf(events: readonly ShownEvent[], id: string, range: StripRange, cells: number): ShownEvent[] {
  const isShown = ({ kind, timeMs, node }: ShownEvent) =>
    node === id && kind !== 'log-burst' && kind !== 'new-pattern' && timeMs >= range.fromMs && timeMs < range.toMs;
  return spacedEvents(events.filter(isShown), cells * range.bucketMs);
}

/** The tab stop after an arrow key. */
function nextStop(key: string, stop: number, count: number): number | undefined {
  if (key === 'ArrowRight') return Math.min(count - 1, stop + 1);
  if (key === 'ArrowLeft') return Math.max(0, stop - 1);
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
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
