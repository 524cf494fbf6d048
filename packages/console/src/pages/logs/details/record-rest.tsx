import type { NodeState } from '@porthole/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { visibleText } from '../../../log-view/rows/record-text.ts';
import type { ShownRecord } from '../../../log-view/source/log-source.ts';
import { session } from '../../../state/session.ts';
import { toProblem } from '../../../state/to-problem.ts';
import { formatBytes } from '../../../ui/format.ts';

/** Bytes loaded per click: as much as renders without a pause. */
const PIECE_BYTES = 65_536;

/** Beyond this size the file should be downloaded. */
const MAX_PIECES = 16;

/** The text of a record that is too long for one response, read from its file in pieces. */
export function RecordRest({ record }: { record: ShownRecord }) {
  const [pieces, setPieces] = useState<readonly string[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  const control = useRef<AbortController | null>(null);
  const key = `${record.node} ${record.cursor}`;
  useEffect(() => {
    setPieces([]);
    setFailure(null);
    return () => control.current?.abort();
  }, [key]);
  const shown = Math.min(record.bytes, pieces.length * PIECE_BYTES);
  const isAll = shown >= record.bytes;
  const load = async () => {
    control.current?.abort();
    control.current = new AbortController();
    const { signal } = control.current;
    try {
      const range = {
        start: record.offset + shown,
        end: Math.min(record.offset + record.bytes, record.offset + shown + PIECE_BYTES),
      };
      const text = await readPart(session.client.cluster.member(record.node), { file: record.file, ...range }, signal);
      if (!signal.aborted) setPieces([...pieces, visibleText(text)]);
    } catch (thrown) {
      const { code, detail } = toProblem(thrown);
      if (!signal.aborted) setFailure(`${code}: ${detail}`);
    }
  };
  return (
    <>
      {pieces.map((piece, index) => (
        <pre key={index} class="record-piece">
          {piece}
        </pre>
      ))}
      {failure ? <p class="field-problem">{failure}</p> : null}
      {isAll ? null : pieces.length < MAX_PIECES ? (
        <button type="button" class="button" onClick={() => void load()}>
          {pieces.length === 0 ? 'Show the whole text' : 'Show more'} · {formatBytes(record.bytes - shown)} left
        </button>
      ) : (
        <p class="dim">{formatBytes(record.bytes - shown)} more: download the file to read the rest.</p>
      )}
    </>
  );
}

/** Decodes part of an uncompressed file. Incomplete characters at either end are dropped. */
export async function readPart(
  node: Pick<NodeState, 'openLog'>,
  { file, start, end }: { file: string; start: number; end: number },
  signal: AbortSignal,
): Promise<string> {
  const log = await node.openLog({ file, text: true }, { signal });
  try {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of log.read(start, Math.min(end, log.sizeBytes), { signal }))
      text += decoder.decode(chunk, { stream: true });
    return text;
  } finally {
    await log.close();
  }
}
