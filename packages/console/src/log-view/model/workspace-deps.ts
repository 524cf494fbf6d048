import type { FollowRows } from '../follow/follow-rows.ts';
import type { LogSource, ShownRecord } from '../source/log-source.ts';
import type { LogWindow } from './log-window.ts';
import type { StateKeeper } from './state-keeper.ts';
import type { WorkspaceClock } from './workspace-clock.ts';

/** Shared by the parts of a workspace. */
export interface WorkspaceDeps {
  keeper: StateKeeper;
  clock: WorkspaceClock;
  window: LogWindow;
  followRows: FollowRows;
  source(): LogSource | undefined;
  /** Brings a record into view and focuses it; resolves when it is shown, or something else is. */
  goTo(record: ShownRecord): Promise<void>;
}
