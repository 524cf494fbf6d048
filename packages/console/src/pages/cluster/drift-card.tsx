import { ALL_CONFIG } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { FailureNote } from '../../ui/failure-note.tsx';
import { useResource } from '../../ui/hooks/use-resource.ts';
import { Loading } from '../../ui/loading.tsx';
import { PartialNote } from '../../ui/partial-note.tsx';
import { configDrift } from './cluster-resources.ts';
import { type DriftRow, driftRows } from './drift-rows.ts';

const SHOWN = 6;

/** Keys in which nodes of one role differ that should not. */
export function DriftCard() {
  const { value, asOfMs, failure } = useResource(configDrift);
  const rows = value ? driftRows(value) : [];
  const compared = value?.roles.reduce((sum, { comparedKeys }) => sum + comparedKeys, 0) ?? 0;
  return (
    <section class="card list-card" aria-labelledby="drift-title">
      <div class="card-head">
        <h2 id="drift-title">{cardTitle(value ? rows.length : null)}</h2>
        <a href={viewUrl(ALL_CONFIG)}>all keys →</a>
      </div>
      {failure && (
        <FailureNote what="The configuration" failure={failure} asOfMs={asOfMs} onRetry={() => configDrift.reload()} />
      )}
      {!value && !failure && <Loading what="the configuration of all nodes" />}
      <ul class="fact-list">
        {rows.slice(0, SHOWN).map((row) => (
          <li key={`${row.role} ${row.key}`}>
            <a class="mono" href={viewUrl({ ...ALL_CONFIG, role: row.role, text: row.key })}>
              {row.key}
            </a>
            <DriftValues row={row} />
          </li>
        ))}
      </ul>
      {rows.length > SHOWN && (
        <p>
          <a href={viewUrl(ALL_CONFIG)}>{rows.length - SHOWN} more →</a>
        </p>
      )}
      {value && rows.length === 0 && <p class="dim">{compared} keys were compared; what differs is expected to.</p>}
      {value && <PartialNote members={value.members} onRetry={() => configDrift.reload()} />}
    </section>
  );
}

function DriftValues({ row: { most, outliers } }: { row: DriftRow }) {
  return (
    <span class="fact">
      {most !== null && (
        <>
          <span class="value">{most}</span> on most ·{' '}
        </>
      )}
      {outliers.map(({ value, nodes }, index) => (
        <strong key={value}>
          {index > 0 && ' · '}
          <span class="value">{value}</span> on {nodes.join(', ')}
        </strong>
      ))}
    </span>
  );
}

function cardTitle(count: number | null): string {
  if (count === null) return 'Configuration';
  if (count === 0) return 'No configuration key differs';
  return count === 1 ? '1 configuration key differs' : `${count} configuration keys differ`;
}
