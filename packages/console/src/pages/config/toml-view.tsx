import { useEffect, useRef } from 'preact/hooks';
import type { FoundPlaces } from '../../config/find-lines.ts';
import { type SettingsByKey, settingMark } from '../../config/setting-marks.ts';
import type { TomlText } from '../../config/toml-text.ts';
import { LinePieces } from './line-pieces.tsx';
import { TomlCode } from './toml-line.tsx';

interface TomlViewProps {
  toml: TomlText;
  settings: SettingsByKey;
  found: FoundPlaces;
  /** Index of the place the reader is at; -1 for none. */
  current: number;
  label: string;
}

/** A configuration as text, with its line numbers and marks. */
export function TomlView({ toml, settings, found, current, label }: TomlViewProps) {
  const view = useRef<HTMLElement>(null);
  const place = found.places[current];
  const wanted = place?.line ?? null;
  useEffect(() => {
    if (wanted === null) return;
    view.current?.querySelector('mark.is-current')?.scrollIntoView({ block: 'center', inline: 'nearest' });
  }, [wanted, current]);
  const drawLine = (index: number) => {
    const line = toml.lineAt(index);
    const mark = settingMark(line.key === null ? undefined : settings.get(line.key));
    const first = firstPlace(found, index);
    const places = first === -1 ? [] : placesOfLine(found, first);
    const isHere = place?.line === index;
    return (
      <div key={index} class={`toml-line${mark?.isChanged ? ' is-marked' : ''}`} data-number={index + 1}>
        <TomlCode line={line} places={places} current={isHere ? current - first : null} />
        {mark && <span class="toml-note">◂ {mark.text}</span>}
      </div>
    );
  };
  return (
    <section class="toml-view" aria-label={label} ref={view}>
      <LinePieces
        count={toml.lines.length}
        kind="lines"
        wanted={wanted}
        draw={(from, to) => Array.from({ length: to - from }, (_, index) => drawLine(from + index))}
      />
    </section>
  );
}

/** Index of the first place in a line; places are in order, so half of them are left out at each step. */
function firstPlace({ places }: FoundPlaces, line: number): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle]?.line ?? 0) < line) low = middle + 1;
    else high = middle;
  }
  return places[low]?.line === line ? low : -1;
}

function placesOfLine({ places }: FoundPlaces, first: number) {
  let end = first;
  while (places[end]?.line === places[first]?.line && end < places.length) end++;
  return places.slice(first, end);
}
