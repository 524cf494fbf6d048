import type { SettingChange } from '@porthole/client';
import { showValue } from '../../config/setting-text.ts';
import { ValueText } from './value-text.tsx';

/** Keys shown before the rest is counted: the notice above names the number. */
const MAX_SHOWN = 20;

/** What the file said when the node started, and what it says now. */
export function ChangesTable({ changes }: { changes: readonly SettingChange[] }) {
  const rest = changes.length - MAX_SHOWN;
  return (
    <div class="table-frame changes-frame">
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
