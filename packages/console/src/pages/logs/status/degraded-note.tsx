import { cluster } from '../../../state/cluster.ts';
import type { LogsView } from '../../../state/view.ts';
import { useResource } from '../../../ui/hooks/use-resource.ts';
import { isDegraded, problemText } from '../../cluster/node-health.ts';

/** Says which of the nodes shown respond but are not well, and why: their logs may not be all there is. */
export function DegradedNote({ sources }: Pick<LogsView, 'sources'>) {
  const { value } = useResource(cluster);
  const isShown = (id: string) => sources.length === 0 || sources.some(({ node }) => node === id || /[*?]/.test(node));
  const degraded = (value?.nodes ?? []).filter((node) => isDegraded(node) && isShown(node.id));
  if (degraded.length === 0) return null;
  return (
    <p class="degraded-note" role="status">
      {degraded.map(({ id, problems }) => (
        <span key={id}>
          <strong>{id}</strong> is degraded: {problemText(problems)}
        </span>
      ))}
    </p>
  );
}
