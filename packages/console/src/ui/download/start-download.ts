import { PATHS } from '@porthole/contract';
import { showNotice } from '../../state/notice.ts';
import { toProblem } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { saveUrl } from './save-content.ts';

/**
 * Lets the browser save what a URL of this node gives, of any size: to disk, with its own progress and a way to cancel.
 * A link carries no token; where there is one, a ticket for this download stands for it.
 */
export async function startDownload(url: string, name?: string): Promise<void> {
  try {
    saveUrl(session.hasToken.value ? await withTicket(url) : url, name);
    showNotice('Download started: the browser shows its progress');
  } catch (thrown) {
    const { code, detail } = toProblem(thrown);
    showNotice(`The download failed: ${code}: ${detail}`);
  }
}

async function withTicket(url: string): Promise<string> {
  const response = await session.fetch(`${PATHS.downloadTicket}?${new URLSearchParams({ for: url })}`);
  if (!response.ok) throw new Error(`no ticket for it (status ${response.status})`);
  const { ticket } = (await response.json()) as { ticket: string };
  return `${url}${url.includes('?') ? '&' : '?'}ticket=${ticket}`;
}
