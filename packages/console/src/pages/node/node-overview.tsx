import type { ClusterNode } from '@porthole/client';
import { useMemo } from 'preact/hooks';
import { FilesCard } from './files-card.tsx';
import { HealthCard } from './health-card.tsx';
import { HourCard } from './hour-card.tsx';
import { IdentityCard } from './identity-card.tsx';
import { NewestErrorsCard } from './newest-errors-card.tsx';
import { descriptionResource, filesResource, hourResource, newestErrorsResource } from './node-resources.ts';

export function NodeOverview({ node }: { node: ClusterNode }) {
  const { id } = node;
  const resources = useMemo(
    () => ({
      description: descriptionResource(id),
      hour: hourResource(id),
      files: filesResource(id),
      errors: newestErrorsResource(id),
    }),
    [id],
  );
  return (
    <div class="node-overview">
      <HourCard id={id} counts={resources.hour} />
      <div class="card-pair">
        <IdentityCard node={node} description={resources.description} />
        <HealthCard node={node} description={resources.description} />
      </div>
      <NewestErrorsCard id={id} errors={resources.errors} />
      <FilesCard id={id} files={resources.files} />
    </div>
  );
}
