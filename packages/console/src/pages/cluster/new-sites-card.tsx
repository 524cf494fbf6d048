import type { ClusterDigest } from '@porthole/client';
import { viewUrl } from '../../state/view-url.ts';
import { FailureNote } from '../../ui/failure-note.tsx';
import { formatCount } from '../../ui/format.ts';
import { useResource } from '../../ui/hooks/use-resource.ts';
import { Loading } from '../../ui/loading.tsx';
import { PartialNote } from '../../ui/partial-note.tsx';
import { groupView, nodesText } from './call-sites.ts';
import { callSites } from './cluster-resources.ts';

type Group = ClusterDigest['groups'][number];

/** Warnings and errors that were not there before. */
export function NewSitesCard() {
  const { value, asOfMs, failure } = useResource(callSites);
  return (
    <section class="card list-card" aria-labelledby="sites-title">
      <div class="card-head">
        <h2 id="sites-title">New in the last hour, by call site</h2>
      </div>
      {failure && (
        <FailureNote what="The call sites" failure={failure} asOfMs={asOfMs} onRetry={() => callSites.reload()} />
      )}
      {!value && !failure && <Loading what="the call sites of all nodes" />}
      {value && value.groups.length > 0 && (
        <ul class="site-list">
          {value.groups.map((group) => (
            <SiteRow key={`${group.level} ${group.source ?? group.shape}`} group={group} />
          ))}
        </ul>
      )}
      {value?.groups.length === 0 && (
        <p class="dim">Nothing new: no kind of warning or error began in the last hour.</p>
      )}
      {value && <PartialNote members={value.members} onRetry={() => callSites.reload()} />}
    </section>
  );
}

function SiteRow({ group }: { group: Group }) {
  const isError = group.level === 'ERROR' || group.level === 'FATAL';
  const nodes = Object.keys(group.nodes).join(', ');
  return (
    <li>
      <a class="site-link" href={viewUrl(groupView(group))}>
        <span class={`level-letter ${isError ? 'problem' : 'warning'}`} title={group.level ?? undefined}>
          {group.level?.charAt(0) ?? '–'}
        </span>
        <code class={isError ? 'problem' : 'warning'}>{group.source ?? group.sample.file}</code>
        <span class="site-message">{firstLine(group.sample.message)}</span>
        <span class="site-count">{formatCount(group.count)}×</span>
        <span class="site-nodes dim" title={nodes}>
          {nodesText(group)}
        </span>
      </a>
    </li>
  );
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}
