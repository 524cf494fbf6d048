import type { ClusterNode } from '@porthole/client';
import { useMemo } from 'preact/hooks';
import { FilesCard } from './files-card.tsx';
import { HealthCard } from './health-card.tsx';
import { HourCard } from './hour-card.tsx';
import { IdentityCard } from './identity-card.tsx';
import { NewestErrorsCard } from './newest-errors-card.tsx';
import { descriptionOf, filesOf, hourOf, newestErrorsOf } from './node-resources.ts';

export function NodeOverview({ node }: { node: ClusterNode }) {
  const { id } = node;
  const asked = useMemo(
    () => ({ description: descriptionOf(id), hour: hourOf(id), files: filesOf(id), errors: newestErrorsOf(id) }),
    [id],
  );
  return (
    <div class="node-overview">
      <HourCard id={id} counts={asked.hour} />
      <div class="card-pair">
        <IdentityCard node={node} description={asked.description} />
        <HealthCard node={node} description={asked.description} />
      </div>
      <NewestErrorsCard id={id} errors={asked.errors} />
      <FilesCard id={id} files={asked.files} />
    </div>
  );
}
