import { PATHS } from '@porthole/contract';
import { showNotice } from '../state/notice.ts';
import { session } from '../state/session.ts';
import { toProblem } from '../state/to-problem.ts';

/** By then the browser has read the content. */
const KEEP_MS = 60_000;

/**
 * Lets the browser save a path of this node, of any size, with its own progress and cancel button. A link carries no
 * token; a ticket replaces it.
 */
export async function startDownload(path: string, name?: string): Promise<void> {
  try {
    const target = session.hasToken.value ? await withTicket(path) : path;
    saveUrl(session.url + target, name);
    showNotice('Download started: the browser shows its progress');
  } catch (thrown) {
    const { code, detail } = toProblem(thrown);
    showNotice(`Download failed: ${code}: ${detail}`);
  }
}

async function withTicket(path: string): Promise<string> {
  const response = await session.fetch(`${PATHS.downloadTicket}?${new URLSearchParams({ for: path })}`);
  if (!response.ok) throw new Error(`the node issued no download ticket (status ${response.status})`);
  const { ticket } = (await response.json()) as { ticket: string };
  return `${path}${path.includes('?') ? '&' : '?'}ticket=${ticket}`;
}

/** Saves content as a file. */
export function saveContent(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  saveUrl(url, name);
  // Otherwise it stays in memory as long as the page.
  setTimeout(() => URL.revokeObjectURL(url), KEEP_MS);
}

/** Lets the browser save a URL; without a name, under the one the node sends. */
function saveUrl(url: string, name = ''): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}
