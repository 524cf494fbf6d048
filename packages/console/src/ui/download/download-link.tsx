import { session } from '../../state/session.ts';
import { useStore } from '../hooks/use-store.ts';
import { startDownload } from './start-download.ts';

/** Saves a file. The browser does it by itself; where the node wants a token, with a ticket. */
export function DownloadLink({ href, name }: { href: string; name: string }) {
  const hasToken = useStore(session.hasToken);
  const download = (event: MouseEvent) => {
    if (!hasToken) return;
    event.preventDefault();
    void startDownload(href, name);
  };
  return (
    <a href={href} download={name} aria-label={`download ${name}`} onClick={download}>
      download
    </a>
  );
}
