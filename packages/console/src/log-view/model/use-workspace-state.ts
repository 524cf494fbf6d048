import { useEffect, useState } from 'preact/hooks';
import type { Workspace, WorkspaceState } from './workspace-state.ts';

/** What the workspace is now; drawn again with every change it tells. */
export function useWorkspaceState(workspace: Workspace): WorkspaceState {
  const [, draw] = useState(0);
  useEffect(() => {
    const changed = () => draw((count) => count + 1);
    // It may have changed between drawing and now.
    changed();
    return workspace.subscribe(changed);
  }, [workspace]);
  return workspace.state;
}
