import type { LogFileDetails } from '@porthole/logs/types';
import { useMemo } from 'preact/hooks';
import { visibleText } from '../../log-view/rows/record-text.ts';
import { copyText } from '../../state/notice.ts';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { Button } from '../../ui/controls.tsx';
import { useResource } from '../../ui/hooks.ts';
import { ResourceNote } from '../../ui/notes.tsx';

/** What a file of a node is read as, below its row. */
export function FileFormat({ node, file }: { node: string; file: string }) {
  const resource = useMemo(
    () =>
      new Resource<LogFileDetails | undefined>(async (signal) => {
        const [details] = await session.client.cluster.member(node).logFiles({ file, signal });
        return details;
      }),
    [node, file],
  );
  const { value } = useResource(resource);
  return (
    <section class="file-format" aria-label={`What ${file} is read as`}>
      <ResourceNote resource={resource} what="The format" />
      {value && <LearnedFormatView file={value} />}
    </section>
  );
}

export function LearnedFormatView({ file }: { file: LogFileDetails }) {
  const { learned, problem } = file;
  if (!learned) return <p class="dim">{problem ?? 'This node does not report more of its files; update it.'}</p>;
  const { facts, samples, unfit, example } = learned;
  return (
    <>
      <dl class="facts">
        {facts.map(({ label, text, doubt }) => (
          <div key={label + text}>
            <dt>{label}</dt>
            <dd class={doubt ? 'doubt' : undefined}>{visibleText(text)}</dd>
          </div>
        ))}
      </dl>
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
          <pre>{unfit.map(visibleText).join('\n')}</pre>
        </details>
      )}
      {example && (
        <details>
          <summary>Read it differently: a format for the settings</summary>
          <pre>{visibleText(example)}</pre>
          <Button onClick={() => void copyText(example, 'Format')}>Copy</Button>
        </details>
      )}
    </>
  );
}
