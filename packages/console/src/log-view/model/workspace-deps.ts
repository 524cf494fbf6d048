import type { FollowRows } from '../follow/follow-rows.ts';
import type { LogSource, ShownRecord } from '../source/log-source.ts';
import type { LogWindow } from './log-window.ts';
import type { StateKeeper } from './state-keeper.ts';
import type { WorkspaceClock } from './workspace-clock.ts';

/** What the parts of a workspace share. */
export interface WorkspaceDeps {
  keeper: StateKeeper;
  clock: WorkspaceClock;
  window: LogWindow;
  followRows: FollowRows;
  source(): LogSource | undefined;
  /** Brings a record into view and puts it in focus, wherever it is; resolves when it is there, or something else is. */
  goTo(record: ShownRecord): Promise<void>;
}
