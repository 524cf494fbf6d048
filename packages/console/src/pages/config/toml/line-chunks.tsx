import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface LineChunksProps {
  count: number;
  /** Table rows or text lines. */
  kind: 'rows' | 'lines';
  /** Rendered even when out of view. */
  wanted: number | null;
  draw: (from: number, to: number) => ComponentChildren;
}

/** Lines rendered or skipped together. */
const CHUNK_LINES = 200;

/** Up to this many lines, everything is rendered: the browser's own search and selection see all of it. */
const MAX_WHOLE_LINES = 600;

/** Height of an unwrapped line, as in the style sheet. */
const LINE_PX = 20;

/** Rendered ahead of the view. */
const AHEAD_PX = 1200;

/** Many lines, of which only those near the view are rendered. */
export function LineChunks({ count, kind, wanted, draw }: LineChunksProps) {
  const starts = Array.from({ length: Math.ceil(count / CHUNK_LINES) }, (_, index) => index * CHUNK_LINES);
  if (count <= MAX_WHOLE_LINES) return kind === 'rows' ? <tbody>{draw(0, count)}</tbody> : <div>{draw(0, count)}</div>;
  return (
    <>
      {starts.map((from) => {
        const to = Math.min(count, from + CHUNK_LINES);
        const isWanted = wanted !== null && wanted >= from && wanted < to;
        return <LineChunk key={from} from={from} to={to} kind={kind} isWanted={isWanted} draw={draw} />;
      })}
    </>
  );
}

interface LineChunkProps {
  from: number;
  to: number;
  kind: LineChunksProps['kind'];
  isWanted: boolean;
  draw: LineChunksProps['draw'];
}

function LineChunk({ from, to, kind, isWanted, draw }: LineChunkProps) {
  const container = useRef<HTMLElement>(null);
  const [isNear, setNear] = useState(from === 0);
  // Keeps its measured height, so that nothing jumps when it is skipped again.
  const [height, setHeight] = useState((to - from) * LINE_PX);
  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const observer = new IntersectionObserver(
      ([seen]) => {
        if (!seen) return;
        if (!seen.isIntersecting && seen.boundingClientRect.height > 0) setHeight(seen.boundingClientRect.height);
        setNear(seen.isIntersecting);
      },
      { rootMargin: `${AHEAD_PX}px 0px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const lines = isNear || isWanted ? draw(from, to) : null;
  if (kind === 'lines')
    return (
      <div ref={container as RefObject<HTMLDivElement>} style={lines ? {} : { height }}>
        {lines}
      </div>
    );
  return (
    <tbody ref={container as RefObject<HTMLTableSectionElement>}>
      {lines ?? (
        <tr>
          <td style={{ height }} />
        </tr>
      )}
    </tbody>
  );
}
