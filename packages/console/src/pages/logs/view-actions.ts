import { cliCommand } from '../../log-view/cli-command.ts';
import type { ShownRecord } from '../../log-view/log-source.ts';
import { rawLine } from '../../log-view/record-text.ts';
import type { Workspace } from '../../log-view/workspace-state.ts';
import { copyText, tell } from '../../state/notice.ts';
import { problemOf } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import type { LogsView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { formatBytes } from '../../ui/format.ts';
import { saveContent } from '../../ui/save-content.ts';
import { startDownload } from '../../ui/start-download.ts';
import { keyOfRecord } from './address-of.ts';
import { bytesAround, downloadUrl } from './download.ts';
import { focusedRecord } from './run-command.ts';

export interface ViewActions {
  copyCli: () => void;
  copyLink: () => void;
  copyLine: (record: ShownRecord) => void;
  download: () => void;
  downloadAround: (record: ShownRecord) => void;
}

/** What can be taken out of the view. */
export function viewActions(parts: { view: LogsView; workspace: Workspace; withNode: boolean }): ViewActions {
  const { view, workspace, withNode } = parts;
  return {
    copyCli: () => void copyText(cliCommand(view, { origin: location.origin }), 'Command'),
    copyLink: () => void copyText(location.origin + viewUrl(linkView(view, focusedRecord(workspace))), 'Link'),
    copyLine: (record) =>
      void copyText(
        rawLine(record),
        record.cut ? `The first part of the line (of ${formatBytes(record.bytes)})` : 'Line',
      ),
    download: () =>
      void startDownload(downloadUrl({ sources: view.sources, filter: workspace.state.filter, withNode })),
    downloadAround: (record) => void saveAround(record),
  };
}

async function saveAround({ node, file, offset, bytes }: ShownRecord): Promise<void> {
  try {
    const { signal } = new AbortController();
    const content = await bytesAround(session.client.cluster.member(node), { file, offset, bytes }, signal);
    saveContent(content, file);
    tell(`Downloaded ${formatBytes(content.size)}`);
  } catch (thrown) {
    const { code, detail } = problemOf(thrown);
    tell(`The download failed: ${code}: ${detail}`);
  }
}

/** Who opens the link sees the focused record, wherever the log is by then. */
function linkView(view: LogsView, record: ShownRecord | null): LogsView {
  return record ? { ...view, at: keyOfRecord(record), timeMs: null, isLive: false } : view;
}
