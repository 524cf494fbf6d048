import type { ClusterConfigDiff } from '@porthole/client';
import { countDrift } from '../../../config/role-choice.ts';
import type { ConfigView } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';

interface RoleSwitchProps {
  view: ConfigView;
  diff: ClusterConfigDiff;
  /** The one that is shown. */
  role: string;
}

/** Roles with how many keys differ in each; nothing where there is only one. */
export function RoleSwitch({ view, diff, role }: RoleSwitchProps) {
  if (diff.roles.length < 2) return null;
  return (
    <nav class="config-segments" aria-label="Role">
      {diff.roles.map((one) => {
        const url = viewUrl({ ...view, role: one.role, left: null, right: null });
        return (
          <a key={one.role} class="config-segment" href={url} aria-current={one.role === role ? 'true' : undefined}>
            {one.role} <span class="config-segment-count">{countDrift(one)}</span>
            <span class="sr-only"> differing keys</span>
          </a>
        );
      })}
    </nav>
  );
}
