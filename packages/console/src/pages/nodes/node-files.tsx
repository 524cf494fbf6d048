import { coverageOf, fileSource } from '@porthole/contract';
import type { LogFileDetails } from '@porthole/logs/types';
import { useMemo, useState } from 'preact/hooks';
import { visibleText } from '../../log-view/rows/record-text.ts';
import { copyText } from '../../state/notice.ts';
import { preferences } from '../../state/preferences.ts';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { nodeLogs } from '../../state/view.ts';
import { linkTo, viewUrl } from '../../state/view-url.ts';
import { Button, LinkButton } from '../../ui/controls.tsx';
import { formatAge, formatBytes, formatCounted, formatSecond } from '../../ui/format.ts';
import { useNow, useResource, useStore } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { ResourceNote, Unknown } from '../../ui/notes.tsx';
import { ResourceCard } from '../../ui/resource-card.tsx';
import { startDownload } from '../../ui/start-download.ts';
import { type FileFamily, fileFamilies, matchingFamilies, type NodeFile } from './file-families.ts';

/** Often enough to see files grow. */
const FILES_MS = 10_000;

/** Growth is measured over this time at most. */
const GROWTH_MS = 120_000;

/** Fewer are found by looking. */
const MANY_FILES = 8;

/** The sizes of files at a time. */
export interface SizeSample {
  atMs: number;
  sizes: ReadonlyMap<string, number>;
}

interface FilesCardProps {
  id: string;
  /** A node that is gone writes no more: its files have an end, and no age. */
  isUp: boolean;
  /** Only files whose names contain this. */
  text: string;
  onText: (text: string) => void;
}

/** The log files of a node: how large, how fast they grow, when they were last written, and what they are read as. */
export function FilesCard({ id, isUp, text, onText }: FilesCardProps) {
  const files = useMemo(() => {
    const samples: SizeSample[] = [];
    return new Resource(
      async (signal) => {
        const response = await session.client.logFiles({ nodes: [id] }, { signal });
        const atMs = Date.now();
        samples.push({ atMs, sizes: new Map(response.files.map(({ name, size }) => [name, size])) });
        while (samples.length > 2 && atMs - (samples[0]?.atMs ?? atMs) > GROWTH_MS) samples.shift();
        return { ...response, first: samples[0], atMs };
      },
      isUp ? { everyMs: FILES_MS } : {},
    );
  }, [id, isUp]);
  return (
    <ResourceCard
      id="files-title"
      title={(value) => {
        // What is known of a node that is gone may be without its files.
        if (value.files.length === 0 && !coverageOf(value).isComplete) return 'Log files';
        const bytes = formatBytes(value.files.reduce((sum, { size }) => sum + size, 0));
        return `${formatCounted(value.files.length, 'log file')}, ${bytes}`;
      }}
      resource={files}
      what="The files"
      known={isUp ? [] : [id]}
      aside={(value) =>
        (text !== '' || (value && value.files.length > MANY_FILES)) && (
          <input
            type="search"
            aria-label="Files whose name contains"
            placeholder="File name contains"
            value={text}
            onInput={({ currentTarget }) => onText(currentTarget.value)}
          />
        )
      }
    >
      {(value) => {
        const families = matchingFamilies(fileFamilies(value.files), text);
        if (families.length === 0)
          return (
            <p class="dim card-note">
              {value.files.length > 0
                ? `No file name contains "${text}"`
                : coverageOf(value).isComplete
                  ? 'No log files'
                  : 'Its files are not known.'}
            </p>
          );
        const growth = (file: NodeFile) => (isUp ? growthText(file, value.first, value.atMs) : null);
        return (
          <table class="data-table file-table">
            <caption class="sr-only">Log files of {id}</caption>
            <thead>
              <tr>
                <th scope="col">File</th>
                <th scope="col" class="number">
                  Size
                </th>
                {isUp && <th scope="col">Growth</th>}
                <th scope="col">{isUp ? 'Written' : 'Written, last known'}</th>
                <th scope="col">Format</th>
                <th scope="col">
                  <span class="sr-only">Download</span>
                </th>
              </tr>
            </thead>
            {families.map((family) => (
              <FamilyRows key={family.name} {...{ id, family, isUp, growth }} />
            ))}
          </table>
        );
      }}
    </ResourceCard>
  );
}

/** `+12 kB/min` as measured; before that, its average; `unchanged`: nothing was written in the measured time. */
export function growthText(file: NodeFile, first: SizeSample | undefined, nowMs: number): string | null {
  const before = first?.sizes.get(file.name);
  if (file.state !== 'live') return null;
  if (first && before !== undefined && nowMs > first.atMs) {
    const grown = file.size - before;
    if (grown === 0) return 'unchanged';
    // It was rotated, or truncated, in between.
    if (grown < 0) return 'started anew';
    return `+${formatBytes(Math.max(1, Math.round((grown / (nowMs - first.atMs)) * 60_000)))}/min`;
  }
  const spanMs = (file.lastTimeMs ?? 0) - (file.firstTimeMs ?? 0);
  if (file.firstTimeMs === null || file.lastTimeMs === null || spanMs < 60_000) return null;
  return `about ${formatBytes(Math.round((file.size / spanMs) * 60_000))}/min`;
}

interface RowsProps {
  id: string;
  isUp: boolean;
  growth: (file: NodeFile) => string | null;
}

/** A log with its live file; the rotated ones are folded. */
function FamilyRows({ family, ...rest }: RowsProps & { family: FileFamily }) {
  const [isOpen, setOpen] = useState(false);
  const [first, ...rotated] = family.files;
  if (!first) return null;
  return (
    <tbody>
      <FileRow file={first} {...rest} />
      {rotated.length > 0 && (
        <tr class="folded-row">
          <td colSpan={6}>
            <LinkButton aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {formatCounted(rotated.length, 'rotated file')}, {formatBytes(family.sizeBytes - first.size)}
            </LinkButton>{' '}
            <a href={viewUrl(nodeLogs(rest.id, { kind: 'family', name: family.name }))}>all of {family.name}</a>
          </td>
        </tr>
      )}
      {isOpen && rotated.map((file) => <FileRow key={file.name} file={file} {...rest} />)}
    </tbody>
  );
}

function FileRow({ id, file, isUp, growth }: RowsProps & { file: NodeFile }) {
  const zone = useStore(preferences.zone);
  const hasToken = useStore(session.hasToken);
  const nowMs = useNow();
  const [isOpen, setOpen] = useState(false);
  const { name, size, state, compressed, format, problem } = file;
  const writtenMs = file.modifiedMs ?? file.lastTimeMs;
  const canRead = format !== 'binary' && format !== 'unreadable';
  const path = `/api/v1/nodes/${encodeURIComponent(id)}/log/raw?${new URLSearchParams({ file: name })}`;
  // With a ticket if the node requires a token.
  const download = (event: MouseEvent) => {
    if (!hasToken) return;
    event.preventDefault();
    void startDownload(path, name);
  };
  return (
    <>
      <tr>
        <th scope="row" class="mono wraps">
          {canRead ? <a href={viewUrl(nodeLogs(id, { kind: 'file', name }))}>{name}</a> : name}
        </th>
        <td data-name="Size" class="number">
          {formatBytes(size)}
        </td>
        {isUp && (
          <td data-name="Growth">
            {growth(file) ?? <span class="faint">{state === 'rotated' ? 'rotated' : '–'}</span>}
          </td>
        )}
        <td data-name="Written">
          {writtenMs === null ? (
            <Unknown why="not reported" />
          ) : (
            <span data-tip={new Date(writtenMs).toISOString()}>
              {isUp ? formatAge(writtenMs, nowMs) : formatSecond(writtenMs, zone)}
            </span>
          )}
        </td>
        <td data-name="Format" class={problem ? 'problem' : undefined}>
          {canRead ? (
            <LinkButton
              aria-expanded={isOpen}
              aria-label={`${format}: what ${name} is read as`}
              onClick={() => setOpen(!isOpen)}
            >
              {format}
            </LinkButton>
          ) : (
            format
          )}
          {compressed && ' · compressed'}
          {problem && `: ${problem}`}
        </td>
        <td>
          <a
            class="icon-button"
            href={linkTo(path)}
            download={name}
            aria-label={`download ${name}`}
            data-tip="Download"
            onClick={download}
          >
            <Icon name="download" />
          </a>
        </td>
      </tr>
      {isOpen && (
        <tr class="format-row">
          <td colSpan={6}>
            <FileFormat node={id} file={name} />
          </td>
        </tr>
      )}
    </>
  );
}

/** What a file of a node is read as, below its row. */
function FileFormat({ node, file }: { node: string; file: string }) {
  const resource = useMemo(
    () => new Resource((signal) => session.client.logFiles({ nodes: [node], src: [fileSource(file)] }, { signal })),
    [node, file],
  );
  const [details] = useResource(resource).value?.files ?? [];
  return (
    <section class="col" aria-label={`What ${file} is read as`}>
      <ResourceNote resource={resource} what="The format" />
      {details && <LearnedFormatView file={details} />}
    </section>
  );
}

export function LearnedFormatView({
  file: { learned, problem },
}: {
  file: Pick<LogFileDetails, 'learned' | 'problem'>;
}) {
  if (!learned) return <p class="dim">{problem ?? 'This node does not report more of its files; update it.'}</p>;
  const { facts, samples, unfit, example } = learned;
  return (
    <>
      {facts.map(({ label, text, doubt }) => (
        <p key={label + text} class={doubt ? 'warning wraps' : 'wraps'}>
          <b>{label}</b> <span>{visibleText(text)}</span>
        </p>
      ))}
      {samples.map((parts, index) => (
        // The names of its parts are above them.
        <div key={index} class="small wraps sample-line mono">
          {parts.map(({ kind, text }, at) => (
            <span key={at} class={`part-${kind}`} data-kind={kind === 'other' ? undefined : kind}>
              {visibleText(text)}
            </span>
          ))}
        </div>
      ))}
      {unfit.length > 0 && (
        <details>
          <summary>Lines that do not fit, and continue the record above them</summary>
          <pre class="error-text">{unfit.map(visibleText).join('\n')}</pre>
        </details>
      )}
      {example && (
        <details>
          <summary>Read it differently: a format for the settings</summary>
          <pre class="error-text">{visibleText(example)}</pre>
          <Button onClick={() => void copyText(example, 'Format')}>Copy</Button>
        </details>
      )}
    </>
  );
}
