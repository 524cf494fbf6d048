import type { ClusterConfigDiff, ClusterNode } from '@porthole/client';
import { useMemo } from 'preact/hooks';
import { driftMatrix, firstPair } from '../../../config/drift-matrix.ts';
import { driftHeading } from '../../../config/drift-text.ts';
import { chooseRole, silentNodes } from '../../../config/role-choice.ts';
import type { ConfigView } from '../../../state/view.ts';
import { PairSection } from '../pair/pair-section.tsx';
import { PartialNote } from '../partial-note.tsx';
import { DriftTable } from './drift-table.tsx';
import { DriftTools } from './drift-tools.tsx';
import { RoleSwitch } from './role-switch.tsx';
import { useSettings } from './use-settings.ts';

interface DriftSectionProps {
  view: ConfigView;
  /** Empty as long as they are not known. */
  nodes: readonly ClusterNode[];
  diff: ClusterConfigDiff;
  isLoading: boolean;
  onRetry: () => void;
}

/** The nodes of one role against each other, and two of them side by side. */
export function DriftSection({ view, nodes, diff, isLoading, onRetry }: DriftSectionProps) {
  const role = chooseRole(diff, view.role);
  const settings = useSettings(role, diff, nodes);
  const matrix = useMemo(
    () =>
      role &&
      driftMatrix(role, {
        text: view.text,
        members: diff.members,
        silentNodes: silentNodes(role, diff, nodes),
        settings,
      }),
    [role, diff, nodes, settings, view.text],
  );
  // Nodes that are gone are not compared, but their snapshots can be read.
  const ids = [...diff.members, ...nodes].map(({ id }) => id);
  const partial = <PartialNote members={diff.members} isLoading={isLoading} onRetry={onRetry} />;
  if (!role || !matrix)
    return (
      <>
        <h1>No configurations could be compared</h1>
        {partial}
        <PairSection view={view} nodes={ids} proposed={null} />
      </>
    );
  return (
    <>
      <div class="config-top">
        <div>
          <h1>{driftHeading(matrix, role.nodes.length, role.role)}</h1>
          <p class="config-sub">
            {role.comparedKeys} keys compared · value of most nodes in grey, others named · secrets compared by
            fingerprint, never shown
          </p>
        </div>
        <DriftTools view={view} />
      </div>
      <RoleSwitch view={view} diff={diff} role={role.role} />
      {partial}
      {view.role !== null && view.role !== role.role ? (
        <p class="config-sub" role="alert">
          No nodes of the role "{view.role}" can be compared: these have the role "{role.role}".
        </p>
      ) : null}
      <DriftTable view={view} matrix={matrix} nodeCount={role.nodes.length} />
      <PairSection key={role.role} view={view} nodes={ids} proposed={firstPair(matrix)} />
    </>
  );
}
