import type { LogsView } from '../../state/view.ts';
import { PlainPage } from './plain-page.tsx';
import { WorkspacePage } from './workspace-page.tsx';
export function LogsPage({ view }: { view: LogsView }) {
  return view.isPlain ? <PlainPage view={view} /> : <WorkspacePage view={view} />;
}
