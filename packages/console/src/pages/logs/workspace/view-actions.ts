import { cliCommand } from '../../../log-view/cli-command.ts';
import type { Workspace } from '../../../log-view/model/workspace-state.ts';
import { rawLine } from '../../../log-view/rows/record-text.ts';
import type { ShownRecord } from '../../../log-view/source/log-source.ts';
import { copyText, showNotice } from '../../../state/notice.ts';
import { toProblem } from '../../../state/resource.ts';
import { session } from '../../../state/session.ts';
import type { LogsView } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';
import { saveContent } from '../../../ui/download/save-content.ts';
import { startDownload } from '../../../ui/download/start-download.ts';
import { formatBytes } from '../../../ui/format.ts';
import { bytesAround, downloadUrl } from './download.ts';
import { focusedRecord } from './run-command.ts';
import { toRecordKey } from './to-view.ts';

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
    showNotice(`Downloaded ${formatBytes(content.size)}`);
  } catch (thrown) {
    const { code, detail } = toProblem(thrown);
    showNotice(`The download failed: ${code}: ${detail}`);
  }
}

/** Who opens the link sees the focused record, wherever the log is by then. */
function linkView(view: LogsView, record: ShownRecord | null): LogsView {
  return record ? { ...view, at: toRecordKey(record), timeMs: null, isLive: false } : view;
}
