import { tell } from '../../state/notice.ts';
import { problemOf } from '../../state/resource.ts';
import { formatBytes } from '../../ui/format.ts';
import { saveContent } from '../../ui/save-content.ts';
import type { Download } from './download.ts';

/** Gives a download to the browser, and says what is going on meanwhile. */
export async function saveDownload(make: (signal: AbortSignal) => Promise<Download>): Promise<void> {
  tell('Preparing the download…');
  try {
    const { name, content, isCut } = await make(new AbortController().signal);
    saveContent(content, name);
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
