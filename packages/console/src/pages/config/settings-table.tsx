import type { SettingEntry } from '@porthole/client';
import { defaultLabel, SOURCE_LABELS } from '../../config/setting-marks.ts';
import { showValue } from '../../config/setting-text.ts';
import { LineChunks } from './toml/line-chunks.tsx';
import { ValueText } from './value-text.tsx';

interface SettingsTableProps {
  settings: readonly SettingEntry[];
  /** Keys that contain this are shown. */
  text: string;
}

/** Settings as a table: key, value, default, where it comes from. */
export function SettingsTable({ settings, text }: SettingsTableProps) {
  const wanted = text.toLowerCase();
  const shown = settings.filter(({ key, value }) => `${key}\n${showValue(value).text}`.toLowerCase().includes(wanted));
  const hasDefaults = settings.some(({ default: usual }) => usual !== null);
  if (shown.length === 0) return <p class="config-empty">No setting with “{text}” in its key or value.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys only scroll what has the focus
    <section class="table-frame" aria-label="Settings" tabIndex={0}>
      <table class="config-table">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Value</th>
            {hasDefaults && <th scope="col">Default</th>}
            <th scope="col">Source</th>
          </tr>
        </thead>
        <LineChunks
          count={shown.length}
          kind="rows"
          wanted={null}
          draw={(from, to) =>
            shown.slice(from, to).map((entry) => <SettingRow key={entry.key} entry={entry} hasDefaults={hasDefaults} />)
          }
        />
      </table>
    </section>
  );
}

function SettingRow({ entry, hasDefaults }: { entry: SettingEntry; hasDefaults: boolean }) {
  return (
    <tr>
      <th scope="row">
        <code>{entry.key}</code>
      </th>
      <td class={entry.changed ? 'is-changed' : ''}>
        <ValueText shown={{ ...showValue(entry.value), fingerprint: entry.fingerprint ?? null }} />
        {entry.changed && <span class="same-note"> changed</span>}
      </td>
      {hasDefaults && <td class="is-quiet">{entry.default === null ? '–' : defaultLabel(entry)}</td>}
      <td class="is-quiet is-origin">{SOURCE_LABELS[entry.source]}</td>
    </tr>
  );
}
