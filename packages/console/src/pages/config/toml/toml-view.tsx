import { useEffect, useRef } from 'preact/hooks';
import type { TextMatches } from '../../../config/find-lines.ts';
import { type SettingsByKey, settingMark } from '../../../config/setting-marks.ts';
import type { TomlText } from '../../../config/toml-text.ts';
import { LineChunks } from './line-chunks.tsx';
import { TomlCode } from './toml-line.tsx';

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
