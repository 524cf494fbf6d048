import { showValue } from '../../config/setting-text.ts';
import { cluster } from '../../state/cluster.ts';
import { viewUrl } from '../../state/view-url.ts';
import { FailureNote } from '../../ui/failure-note.tsx';
import { useResource } from '../../ui/hooks/use-resource.ts';
import { useStore } from '../../ui/hooks/use-store.ts';
import { Loading } from '../../ui/loading.tsx';
import { ownSettings } from './cluster-resources.ts';

const SHOWN = 8;

/** Of a node that is alone: what is set otherwise than by default. */
export function SettingsCard() {
  const { value, asOfMs, failure } = useResource(ownSettings);
  const id = useStore(cluster.state).value?.nodes[0]?.id ?? '';
  const changed = value?.settings.filter((entry) => entry.changed) ?? [];
  const isUnknown = value?.settings.every((entry) => entry.changed === null) ?? false;
  const configUrl = viewUrl({ page: 'node', id, tab: 'config', text: '' });
  return (
    <section class="card list-card" aria-labelledby="settings-title">
      <div class="card-head">
        <h2 id="settings-title">{cardTitle(value && !isUnknown ? changed.length : null)}</h2>
        <a href={configUrl}>all settings →</a>
      </div>
      {failure && (
        <FailureNote what="The settings" failure={failure} asOfMs={asOfMs} onRetry={() => ownSettings.reload()} />
      )}
      {!value && !failure && <Loading what="the settings" />}
      <ul class="fact-list">
        {changed.slice(0, SHOWN).map((entry) => (
          <li key={entry.key}>
            <a class="mono" href={viewUrl({ page: 'node', id, tab: 'config', text: entry.key })}>
              {entry.key}
            </a>
            <span class="fact">
              <strong class="value">{showValue(entry.value).text}</strong>
              {entry.default !== null && (
                <span class="dim">
                  {' '}
                  instead of <span class="value">{showValue(entry.default).text}</span>
                </span>
              )}{' '}
              <span class="dim">· {entry.source}</span>
            </span>
          </li>
        ))}
      </ul>
      {changed.length > SHOWN && (
        <p>
          <a href={configUrl}>{changed.length - SHOWN} more →</a>
        </p>
      )}
      {isUnknown && (
        <p class="dim">
          {value?.settings.length} keys, read from <code>{value?.file}</code>. Their defaults are not known here.
        </p>
      )}
    </section>
  );
}

function cardTitle(count: number | null): string {
  if (count === null) return 'Settings';
  if (count === 0) return 'All settings are as usual';
  return count === 1 ? '1 setting is changed' : `${count} settings are changed`;
}
