import { cliCommand } from '../../log-view/cli-command.ts';
import type { LogSource, ShownRecord } from '../../log-view/log-source.ts';
import { rawLine } from '../../log-view/record-text.ts';
import type { Workspace } from '../../log-view/workspace-state.ts';
import { copyText } from '../../state/notice.ts';
import { session } from '../../state/session.ts';
import type { LogsView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { formatBytes } from '../../ui/format.ts';
import { saveUrl } from '../../ui/save-content.ts';
import { keyOfRecord } from './address-of.ts';
import { fileBytes, foundRecords } from './download.ts';
import { focusedRecord } from './run-command.ts';
import { saveDownload } from './save-download.ts';

export interface ViewActions {
  copyCli: () => void;
  copyLink: () => void;
  copyLine: (record: ShownRecord) => void;
  download: () => void;
  downloadAround: (record: ShownRecord) => void;
}

/** What can be taken out of the view. */
export function viewActions(parts: { view: LogsView; source: LogSource; workspace: Workspace }): ViewActions {
  const { view, source, workspace } = parts;
  return {
    copyCli: () => void copyText(cliCommand(view, { origin: location.origin }), 'Command'),
    copyLink: () => void copyText(location.origin + viewUrl(linkView(view, focusedRecord(workspace))), 'Link'),
    copyLine: (record) =>
      void copyText(
        rawLine(record),
        record.cut ? `The first part of the line (of ${formatBytes(record.bytes)})` : 'Line',
      ),
    download: () => {
      const [only, ...others] = view.sources;
      const name = only?.log?.name;
      const isFiltered = Object.keys(workspace.state.filter).length > 0;
      if (!only || name === undefined || others.length > 0 || isFiltered)
        void saveDownload((signal) => foundRecords(source, workspace.state.filter, signal));
      // A link carries no token; without one the browser fetches a file of any size by itself.
      else if (session.hasToken.value)
        void saveDownload((signal) => fileBytes(session.client.cluster.member(only.node), { file: name }, signal));
      else saveUrl(rawUrl(only.node, name), name);
    },
    downloadAround: ({ node, file, offset, bytes }) =>
      void saveDownload((signal) =>
        fileBytes(session.client.cluster.member(node), { file, around: { offset, bytes } }, signal),
      ),
  };
}

/** Who opens the link sees the focused record, wherever the log is by then. */
function linkView(view: LogsView, record: ShownRecord | null): LogsView {
  return record ? { ...view, at: keyOfRecord(record), timeMs: null, isLive: false } : view;
}

function rawUrl(node: string, file: string): string {
  return `/api/v1/cluster/nodes/${encodeURIComponent(node)}/log/raw?file=${encodeURIComponent(file)}`;
}
