import { nodeColour } from '../state/cluster.ts';
import { viewUrl } from '../state/view-url.ts';

/** The id of a node with its colour, as a link to it. */
export function NodeName({ id, isDim = false }: { id: string; isDim?: boolean }) {
  return (
    <a class="node-name" href={viewUrl({ page: 'node', id, tab: 'overview', text: '' })}>
      <span class={`node-dot ${isDim ? 'node-off' : `node-${nodeColour(id)}`}`} aria-hidden="true" />
      {id}
    </a>
  );
}
