import type { SettingChange, SettingEntry } from '@porthole/client';
import {
  defaultLabel,
  MASK,
  type ShownValue,
  SOURCE_LABELS,
  shortFingerprint,
  showValue,
} from '../../config/setting-values.ts';
import { LineChunks } from './toml-view.tsx';

interface SettingsTableProps {
  settings: readonly SettingEntry[];
  /** Only keys that contain this are shown. */
  text: string;
}

/** Keys listed; the notice above has the total. */
const MAX_SHOWN = 20;

/** Settings as a table: key, value, default, source. */
export function SettingsTable({ settings, text }: SettingsTableProps) {
  const wanted = text.toLowerCase();
  const shown = settings.filter(({ key, value }) => `${key}\n${showValue(value).text}`.toLowerCase().includes(wanted));
  const hasDefaults = settings.some(({ default: defaultValue }) => defaultValue !== null);
  if (shown.length === 0) return <p class="dim wraps config-empty">No setting with “{text}” in its key or value.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and only a focused element scrolls by keyboard
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
      <td class="is-quiet is-origin" title={entry.file}>
        {entry.file === undefined ? SOURCE_LABELS[entry.source] : `${entry.file.replace(/^.*\//, '')}:${entry.line}`}
      </td>
    </tr>
  );
}

/** Values of the file at start and now. */
export function ChangesTable({ changes }: { changes: readonly SettingChange[] }) {
  const rest = changes.length - MAX_SHOWN;
  return (
    <div class="table-frame line changes-frame">
      <table class="config-table">
        <caption class="sr-only">Settings that changed since start</caption>
        <thead>
          <tr>
            <th scope="col">Changed key</th>
            <th scope="col">At start</th>
            <th scope="col">On disk now</th>
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, MAX_SHOWN).map(({ key, atStart, onDisk }) => (
            <tr key={key}>
              <th scope="row">
                <code>{key}</code>
              </th>
              <td>
                <ValueText shown={showValue(atStart)} />
              </td>
              <td class="is-changed">
                <ValueText shown={showValue(onDisk)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rest > 0 && <p class="config-note">{rest} more; the settings have them all.</p>}
    </div>
  );
}

/** A value in a cell; descriptions and secrets have their own style. */
export function ValueText({ shown: { text, kind, fingerprint } }: { shown: ShownValue }) {
  if (kind === 'value') return <span class="value-text">{text}</span>;
  if (kind !== 'secret') return <em class="dim value-word">{text}</em>;
  const title = fingerprint === null ? 'A secret; its value never leaves the node' : `Fingerprint ${fingerprint}`;
  return (
    <span class={`dim toml-mask${text === MASK ? ' is-whole' : ''}`} title={title}>
      {text.replaceAll(MASK, '••••••')}
      {fingerprint !== null && <> {shortFingerprint(fingerprint)}</>}
    </span>
  );
}
