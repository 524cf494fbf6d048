import { LogWorkspace } from '../../../log-view/model/log-workspace.ts';
import type { Workspace } from '../../../log-view/model/workspace-state.ts';
import { createSource } from '../../../log-view/source/create-source.ts';
import type { LogSource } from '../../../log-view/source/log-source.ts';
import { cluster } from '../../../state/cluster.ts';
import { session } from '../../../state/session.ts';
import type { LogsView, View } from '../../../state/view.ts';
import { applyView } from './apply-view.ts';

export interface OpenedLogs {
  view: LogsView;
  source: LogSource;
  workspace: Workspace;
}

/** A workspace that was opened before the page was rendered. */
let early: OpenedLogs | undefined;

/** The first render waits this long for rows: less than a user notices. */
const EARLY_MS = 100;

export function openSource({ sources, labels }: LogsView): LogSource {
  return createSource(sources, { client: session.client, labels, clusterNodes: () => cluster.state.value.value });
}

/**
 * Opens logs before the page is rendered. Resolves when they respond, or after a short wait: rendering once with rows
 * is faster than rendering twice.
 */
export async function openEarly(view: View): Promise<void> {
  if (view.page !== 'logs' || view.isPlain) return;
  early = openLogs(view);
  const { workspace } = early;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, EARLY_MS);
    const end = workspace.subscribe(() => {
      if (isFirstLoading(workspace)) return;
      clearTimeout(timer);
      end();
      resolve();
    });
  });
}

/** A workspace for the view; the one opened early if it matches. */
export function takeOpened(view: LogsView): OpenedLogs {
  const opened = early?.view === view ? early : openLogs(view);
  early = undefined;
  return opened;
}

/** Nothing has been loaded yet. */
export function isFirstLoading({ state }: Workspace): boolean {
  return state.rows.length === 0 && (state.top.kind === 'loading' || state.bottom.kind === 'loading');
}

function openLogs(view: LogsView): OpenedLogs {
  const opened = { view, source: openSource(view), workspace: new LogWorkspace() };
  applyView({ ...opened, nowMs: Date.now() }, null, view);
  return opened;
}
