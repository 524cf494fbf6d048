import type { NodeState } from '@porthole/client';
import { encodeFilter, PATHS } from '@porthole/contract';
import { rawLine } from '../../log-view/rows/record-text.ts';
import type { RowFilter, ShownRecord } from '../../log-view/source/log-source.ts';
import type { LogWorkspace } from '../../log-view/workspace/log-workspace.ts';
import { copyText, showNotice } from '../../state/notice.ts';
import { session } from '../../state/session.ts';
import { choiceSource, logSource } from '../../state/source-text.ts';
import { toProblem } from '../../state/to-problem.ts';
import type { LogsView, SourceChoice } from '../../state/view.ts';
import { nodeUrl, viewUrl } from '../../state/view-url.ts';
import { formatBytes } from '../../ui/format.ts';
import { saveContent, startDownload } from '../../ui/start-download.ts';
import { focusedRecord } from './log-commands.ts';
import { toRecordKey } from './use-log-workspace.ts';

/** Bytes on each side of a record. */
const AROUND_BYTES = 512 * 1024;

interface DownloadRequest {
  sources: readonly SourceChoice[];
  labels?: readonly string[];
  filter: RowFilter;
  /** Whether records name their node. */
  withNode: boolean;
}

interface ActionDeps {
  view: LogsView;
  workspace: LogWorkspace;
  /** Whether lines of several nodes are shown. */
  withNode: boolean;
}

/** Copying and downloading what a view shows, or its focused record. */
const ACTIONS = {
  'copy-command': async ({ view }: ActionDeps) => {
    const { cliCommand } = await import('../../state/cli-command.ts');
    await copyText(cliCommand(view, { url: nodeUrl(location) }), 'Command');
  },
  /** The link shows the focused record, wherever the log is by then. */
  'copy-link': ({ view, workspace }: ActionDeps) => {
    const record = focusedRecord(workspace);
    const shown = record ? { ...view, at: toRecordKey(record), timeMs: null, isLive: false } : view;
    return copyText(location.origin + viewUrl(shown), 'Link');
  },
  'copy-line': async ({ workspace }: ActionDeps) => {
    const record = focusedRecord(workspace);
    const what = record?.cut ? `The first part of the line (of ${formatBytes(record.bytes)})` : 'Line';
    if (record) await copyText(rawLine(record), what);
  },
  download: ({ view: { sources, labels }, workspace, withNode }: ActionDeps) =>
    startDownload(downloadPath({ sources, labels, filter: workspace.state.filter, withNode })),
  'download-around': async ({ workspace }: ActionDeps) => {
    const record = focusedRecord(workspace);
    if (record) await saveAround(record);
  },
};

export type ViewAction = keyof typeof ACTIONS;

export async function runViewAction(action: ViewAction, deps: ActionDeps): Promise<void> {
  await ACTIONS[action](deps);
}

async function saveAround({ node, file, offset, bytes }: ShownRecord): Promise<void> {
  try {
    const { signal } = new AbortController();
    const end = offset + Math.min(bytes, AROUND_BYTES) + AROUND_BYTES;
    const range = { file, start: offset - AROUND_BYTES, end };
    const content = await readBytes(session.client.node(node), range, signal);
    saveContent(content, file);
    showNotice(`Downloaded ${formatBytes(content.size)}`);
  } catch (thrown) {
    const { code, detail } = toProblem(thrown);
    showNotice(`Download failed: ${code}: ${detail}`);
  }
}

/** The path of a download of any size: a single file as it is, otherwise the matching records. */
export function downloadPath({ sources, labels = [], filter, withNode }: DownloadRequest): string {
  const [only, ...others] = sources;
  const isWhole = Object.keys(filter).length + labels.length === 0;
  if (only?.log?.kind === 'file' && others.length === 0 && isWhole) return rawPath(only.node, only.log.name);
  const query = new URLSearchParams();
  // A source with a node adds that node: only those with the labels are wanted.
  if (labels.length === 0) for (const source of sources) query.append('src', choiceSource(source));
  else for (const { node } of sources) query.append('nodes', node);
  const logs = labels.length === 0 ? [] : sources.flatMap(({ log }) => (log === null ? [] : [logSource(log)]));
  for (const source of new Set(logs)) query.append('src', source);
  for (const label of labels) query.append('label', label);
  if (query.size === 0) query.append('nodes', '*');
  for (const [name, value] of encodeFilter(filter)) query.append(name, value);
  if (withNode) query.set('prefix', 'true');
  return `${PATHS.logDownload}?${query}`;
}

function rawPath(node: string, file: string): string {
  return `${PATHS.nodes}/${encodeURIComponent(node)}/log/raw?${new URLSearchParams({ file })}`;
}

/** A part of a file as it is stored; with `text`, decompressed where that is necessary. */
export async function readBytes(
  node: Pick<NodeState, 'openLog'>,
  { start, end, ...file }: { file: string; text?: boolean; start: number; end: number },
  signal: AbortSignal,
): Promise<Blob> {
  const log = await node.openLog(file, { signal });
  try {
    const chunks: BlobPart[] = [];
    // Chunks are reused: copy what is kept.
    for await (const chunk of log.read(Math.max(0, start), Math.min(end, log.sizeBytes), { signal }))
      chunks.push(chunk.slice());
    return new Blob(chunks, { type: 'application/octet-stream' });
  } finally {
    await log.close();
  }
}
