import { useEffect, useRef, useState } from 'preact/hooks';
import {
  cutTokens,
  type LineSegment,
  lineSegments,
  type TextMatch,
  type TextMatches,
} from '../../../config/find-lines.ts';
import { type SettingsByKey, settingMark } from '../../../config/setting-values.ts';
import type { TomlLine, TomlText } from '../../../config/toml-text.ts';
import { LineChunks } from './line-chunks.tsx';

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
      <div key={index} class={`toml-line${mark?.isChanged ? ' is-marked' : ''}`} data-number={index + 1}>
        <TomlCode line={line} matches={rowMatches} current={isHere ? current - first : null} />
        {mark && <span class="toml-note">◂ {mark.text}</span>}
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
    <code class="toml-code">
      {lineSegments(tokens, matches).map((segment, index) => drawSegment(segment, index, current))}
      {isCut && (
        <button type="button" class="link-button" onClick={() => setWhole(true)}>
          … show the other {(length - MAX_LENGTH).toLocaleString('en-US')} characters
        </button>
      )}
    </code>
  );
}

function drawSegment({ kind, text, found }: LineSegment, index: number, current: number | null) {
  const content = found === null ? text : <mark class={found === current ? 'is-current' : ''}>{text}</mark>;
  if (kind === 'plain') return content;
  if (kind === 'mask')
    return (
      <span key={index} class="toml-mask" title="A secret; its value never leaves the node">
        {content}
      </span>
    );
  return (
    <span key={index} class={`toml-${kind}`}>
      {content}
    </span>
  );
}
