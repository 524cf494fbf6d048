import { useState } from 'preact/hooks';
import { preferences } from '../../state/preferences.ts';
import { session } from '../../state/session.ts';
import { nodeLogs } from '../../state/view.ts';
import { linkTo, viewUrl } from '../../state/view-url.ts';
import { LinkButton } from '../../ui/controls.tsx';
import { formatBytes, formatSecond, formatShortTime } from '../../ui/format.ts';
import { useNow, useStore } from '../../ui/hooks.ts';
import { Unknown } from '../../ui/notes.tsx';
import { startDownload } from '../../ui/start-download.ts';
import type { FileFamily, NodeFile } from './file-families.ts';
import { FileFormat } from './file-format.tsx';

const MINUTE_MS = 60_000;

export function FileTable({ id, families }: { id: string; families: readonly FileFamily[] }) {
  return (
    <div class="card table-frame">
      <table class="data-table file-table">
        <caption class="sr-only">Log files of {id}</caption>
        <thead>
          <tr>
            <th scope="col">File</th>
            <th scope="col" class="number">
              Size
            </th>
            <th scope="col">State</th>
            <th scope="col">Format</th>
            <th scope="col">First line</th>
            <th scope="col">Last line</th>
            <th scope="col">
              <span class="sr-only">Links</span>
            </th>
          </tr>
        </thead>
        {families.map((family) => (
          <tbody key={family.name}>
            {family.files.length > 1 && <FamilyRow id={id} family={family} />}
            {family.files.map((file) => (
              <FileRow key={file.name} id={id} file={file} isInFamily={family.files.length > 1} />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function FamilyRow({
  id,
  family: { name, files, sizeBytes, firstTimeMs, lastTimeMs },
}: {
  id: string;
  family: FileFamily;
}) {
  const href = viewUrl(nodeLogs(id, { kind: 'family', name }));
  return (
    <tr class="family-row">
      <th scope="row">
        <a class="mono" href={href}>
          {name}
        </a>{' '}
        <span class="dim">all {files.length} files</span>
      </th>
      <td data-name="Size" class="number">
        {formatBytes(sizeBytes)}
      </td>
      <td class="is-empty" />
      <td class="is-empty" />
      <td data-name="First line">
        <TimeCell timeMs={firstTimeMs} />
      </td>
      <td data-name="Last line">
        <TimeCell timeMs={lastTimeMs} />
      </td>
      <td class="row-links">
        <a href={href} aria-label={`open all files of ${name}`}>
          open
        </a>
      </td>
    </tr>
  );
}

function FileRow({ id, file, isInFamily }: { id: string; file: NodeFile; isInFamily: boolean }) {
  const href = viewUrl(nodeLogs(id, { kind: 'file', name: file.name }));
  const [isOpen, setOpen] = useState(false);
  const canRead = !['binary', 'unreadable'].includes(file.format);
  const rawPath = `/api/v1/cluster/nodes/${encodeURIComponent(id)}/log/raw?${new URLSearchParams({ file: file.name })}`;
  return (
    <>
      <tr>
        <th scope="row" class={isInFamily ? 'is-inner' : undefined}>
          {canRead ? (
            <a class="mono" href={href}>
              {file.name}
            </a>
          ) : (
            <span class="mono">{file.name}</span>
          )}
        </th>
        <td data-name="Size" class="number">
          {formatBytes(file.size)}
        </td>
        <td data-name="State" class={file.state === 'live' ? 'ok' : 'dim'}>
          {file.state}
          {file.compressed && ' · compressed'}
        </td>
        <td data-name="Format" class={file.problem ? 'problem' : undefined} title={file.problem ?? undefined}>
          {canRead ? (
            <LinkButton
              aria-expanded={isOpen}
              aria-label={`${file.format}: what ${file.name} is read as`}
              onClick={() => setOpen(!isOpen)}
            >
              {file.format} {isOpen ? '▾' : '▸'}
            </LinkButton>
          ) : (
            file.format
          )}
          {file.problem && `: ${file.problem}`}
        </td>
        <td data-name="First line">
          <TimeCell timeMs={file.firstTimeMs} />
        </td>
        <td data-name="Last line">
          <TimeCell timeMs={file.lastTimeMs} />
        </td>
        <td class="row-links">
          {canRead && (
            <>
              <a href={href} aria-label={`open ${file.name}`}>
                open
              </a>
              <span aria-hidden="true"> · </span>
            </>
          )}
          <DownloadLink path={rawPath} name={file.name} />
        </td>
      </tr>
      {isOpen && (
        <tr class="format-row">
          <td colSpan={7}>
            <FileFormat node={id} file={file.name} />
          </td>
        </tr>
      )}
    </>
  );
}

function TimeCell({ timeMs }: { timeMs: number | null }) {
  const zone = useStore(preferences.zone);
  const nowMs = useNow(MINUTE_MS);
  if (timeMs === null) return <Unknown why="no timestamp found, or not determined yet" />;
  return <span title={formatSecond(timeMs, zone)}>{formatShortTime(timeMs, zone, nowMs)}</span>;
}

/** Saves a file through the browser; with a ticket if the node requires a token. */
function DownloadLink({ path, name }: { path: string; name: string }) {
  const hasToken = useStore(session.hasToken);
  const download = (event: MouseEvent) => {
    if (!hasToken) return;
    event.preventDefault();
    void startDownload(path, name);
  };
  return (
    <a href={linkTo(path)} download={name} aria-label={`download ${name}`} onClick={download}>
      download
    </a>
  );
}
