import { tell } from '../../state/notice.ts';
import { problemOf } from '../../state/resource.ts';
import { formatBytes } from '../../ui/format.ts';
import type { Download } from './download.ts';

/** After that the browser has taken the content. */
const KEEP_MS = 60_000;

/** Gives a download to the browser, and says what is going on meanwhile. */
export async function saveDownload(make: (signal: AbortSignal) => Promise<Download>): Promise<void> {
  tell('Preparing the download…');
  try {
    const { name, content, isCut } = await make(new AbortController().signal);
    const url = URL.createObjectURL(content);
    saveUrl(url, name);
    setTimeout(() => URL.revokeObjectURL(url), KEEP_MS);
    const size = formatBytes(content.size);
    tell(
      isCut
        ? `Downloaded ${size}: there is more than a page can hold; the command line has no limit`
        : `Downloaded ${size}`,
    );
  } catch (thrown) {
    const { code, detail } = problemOf(thrown);
    tell(`The download failed: ${code}: ${detail}`);
  }
}

/** Lets the browser fetch it, or take it from memory, under a name. */
export function saveUrl(url: string, name: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}
