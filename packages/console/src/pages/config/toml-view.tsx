import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type SettingsByKey, settingMark } from '../../config/setting-values.ts';
import {
  cutTokens,
  type LineSegment,
  lineSegments,
  type TextMatch,
  type TextMatches,
  type TomlLine,
  TomlText,
} from '../../config/toml-text.ts';
import { LinkButton } from '../../ui/controls.tsx';

interface TomlViewProps {
  toml: TomlText;
  settings: SettingsByKey;
  found: TextMatches;
  /** Index of the current match; -1 for none. */
  current: number;
  label: string;
}

/** A configuration as text, with line numbers and marks. */
export function TomlView({ toml, settings, found, current, label }: TomlViewProps) {
  const view = useRef<HTMLElement>(null);
  const currentMatch = found.matches[current];
  const wanted = currentMatch?.line ?? null;
  useEffect(() => {
    if (wanted === null) return;
    view.current?.querySelector('mark.is-current')?.scrollIntoView({ block: 'center', inline: 'nearest' });
  }, [wanted, current]);
  const drawLine = (index: number) => {
    const line = toml.lineAt(index);
    const mark = settingMark(line.key === null ? undefined : settings.get(line.key));
    const first = firstMatch(found, index);
    const rowMatches = first === -1 ? [] : lineMatches(found, first);
    const isHere = currentMatch?.line === index;
    return (
      <div key={index} class={`wrap toml-line${mark?.isChanged ? ' is-marked' : ''}`} data-number={index + 1}>
        <TomlCode line={line} matches={rowMatches} current={isHere ? current - first : null} />
        {mark && <span class="dim toml-note">◂ {mark.text}</span>}
      </div>
    );
  };
  return (
    <section class="toml-view" aria-label={label} ref={view}>
      <LineChunks
        count={toml.lines.length}
        kind="lines"
        wanted={wanted}
        draw={(from, to) => Array.from({ length: to - from }, (_, index) => drawLine(from + index))}
      />
    </section>
  );
}

/** Binary search for the first match in a line. */
function firstMatch({ matches }: TextMatches, line: number): number {
  let [low, high] = [0, matches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((matches[middle]?.line ?? 0) < line) low = middle + 1;
    else high = middle;
  }
  return matches[low]?.line === line ? low : -1;
}

function lineMatches({ matches }: TextMatches, first: number) {
  let end = first;
  while (matches[end]?.line === matches[first]?.line && end < matches.length) end++;
  return matches.slice(first, end);
}

interface TomlCodeProps {
  line: TomlLine;
  matches?: readonly TextMatch[];
  /** Index of the current match among those of this line. */
  current?: number | null;
}

/** Longer lines are rarely read to the end, and thousands of spans in one line slow down scrolling. */
const MAX_LENGTH = 2000;

const NO_MATCHES: readonly TextMatch[] = [];

/** One highlighted line. */
export function TomlCode({ line, matches = NO_MATCHES, current = null }: TomlCodeProps) {
  const [isWhole, setWhole] = useState(false);
  const length = line.tokens.reduce((sum, { text }) => sum + text.length, 0);
  const isCut = length > MAX_LENGTH && !isWhole && current === null;
  const tokens = isCut ? cutTokens(line.tokens, MAX_LENGTH) : line.tokens;
  return (
    <code class="wraps toml-code">
      {lineSegments(tokens, matches).map((segment, index) => drawSegment(segment, index, current))}
      {isCut && (
        <LinkButton onClick={() => setWhole(true)}>
          … show the other {(length - MAX_LENGTH).toLocaleString('en-US')} characters
        </LinkButton>
      )}
    </code>
  );
}

function drawSegment({ kind, text, found }: LineSegment, index: number, current: number | null) {
  const content = found === null ? text : <mark class={found === current ? 'is-current' : ''}>{text}</mark>;
  if (kind === 'plain') return content;
  if (kind === 'mask')
    return (
      <span key={index} class="dim toml-mask" title="A secret; its value never leaves the node">
        {content}
      </span>
    );
  return (
    <span key={index} class={`toml-${kind}`}>
      {content}
    </span>
  );
}

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

/** Lines tokenized before the first render; takes a few milliseconds. */
const FIRST_LINES = 600;

/** Lines tokenized per step after that, with pauses for input. */
const MORE_LINES = 500;

/** The text by lines; most of a large one is highlighted shortly after the first render. */
export function useToml(text: string): TomlText {
  const [, drawAgain] = useState(0);
  const toml = useMemo(() => {
    const fresh = new TomlText(text);
    fresh.tokenize(FIRST_LINES);
    return fresh;
  }, [text]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tokenizeMore = () => {
      if (toml.isTokenized) return;
      timer = setTimeout(() => {
        toml.tokenize(MORE_LINES);
        // Once, at the end: rendering a large text costs more than tokenizing it.
        if (toml.isTokenized) drawAgain((times) => times + 1);
        else tokenizeMore();
      });
    };
    tokenizeMore();
    return () => clearTimeout(timer);
  }, [toml]);
  return toml;
}
