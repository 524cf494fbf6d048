import type { NodeState } from '@porthole/client';
import { encodeFilter, formatSourceText, PATHS } from '@porthole/contract';
import type { RowFilter } from '../../../log-view/source/log-source.ts';
import type { SourceChoice } from '../../../state/view.ts';

/** Of a file, on each side of a record. */
const AROUND_BYTES = 512 * 1024;

export interface DownloadRequest {
  sources: readonly SourceChoice[];
  filter: RowFilter;
  /** Records say which node they are from. */
  withNode: boolean;
}

/** Where everything that is wanted can be had, of any size: a single file as it is, otherwise the records found. */
export function downloadUrl({ sources, filter, withNode }: DownloadRequest): string {
  const [only, ...others] = sources;
  const isWhole = Object.keys(filter).length === 0;
  if (only?.log?.kind === 'file' && others.length === 0 && isWhole) return rawUrl(only.node, only.log.name);
  const query = new URLSearchParams();
  for (const source of sources) query.append('src', formatSourceText(source));
  for (const [name, value] of encodeFilter(filter)) query.append(name, value);
  if (withNode) query.set('prefix', 'true');
  return query.size === 0 ? PATHS.clusterLogDownload : `${PATHS.clusterLogDownload}?${query}`;
}

function rawUrl(node: string, file: string): string {
  return `${PATHS.clusterNodes}/${encodeURIComponent(node)}/log/raw?${new URLSearchParams({ file })}`;
}

/** A megabyte of a file around a record. */
export async function bytesAround(
  node: Pick<NodeState, 'openLog'>,
  { file, offset, bytes }: { file: string; offset: number; bytes: number },
  signal: AbortSignal,
): Promise<Blob> {
  const log = await node.openLog({ file }, { signal });
  try {
    const start = Math.max(0, offset - AROUND_BYTES);
    const end = Math.min(log.sizeBytes, offset + Math.min(bytes, AROUND_BYTES) + AROUND_BYTES);
    const chunks: BlobPart[] = [];
    // Chunks are used again: what is kept is a copy.
    for await (const chunk of log.read(start, end, { signal })) chunks.push(chunk.slice());
    return new Blob(chunks, { type: 'application/octet-stream' });
  } finally {
    await log.close();
  }
}
