import { useState } from 'preact/hooks';
import { tell } from '../state/notice.ts';
import { session } from '../state/session.ts';
import { saveContent } from './save-content.ts';
import { useStore } from './use-store.ts';

/**
 * Saves a file. The browser does it by itself where the node wants no token; it cannot send one, so then the page
 * fetches the file, which takes as much memory as the file is long.
 */
export function DownloadLink({ href, name }: { href: string; name: string }) {
  const hasToken = useStore(session.hasToken);
  const [isLoading, setLoading] = useState(false);
  const fetchIt = async (event: MouseEvent) => {
    if (!hasToken) return;
    event.preventDefault();
    if (isLoading) return;
    setLoading(true);
    try {
      await saveFrom(href, name);
    } catch (thrown) {
      tell(`${name} could not be downloaded: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
    setLoading(false);
  };
  return (
    <a href={href} download={name} aria-label={`download ${name}`} onClick={(event) => void fetchIt(event)}>
      {isLoading ? 'downloading …' : 'download'}
    </a>
  );
}

async function saveFrom(href: string, name: string): Promise<void> {
  const response = await session.fetch(href);
  if (!response.ok) throw new Error(`the node answered ${response.status}`);
  saveContent(await response.blob(), name);
}
