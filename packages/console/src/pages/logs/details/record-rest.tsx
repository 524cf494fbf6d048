import { useEffect, useRef, useState } from 'preact/hooks';
import { visibleText } from '../../../log-view/rows/record-text.ts';
import type { ShownRecord } from '../../../log-view/source/log-source.ts';
import { toProblem } from '../../../state/resource.ts';
import { session } from '../../../state/session.ts';
import { formatBytes } from '../../../ui/format.ts';
import { readPart } from './read-part.ts';

/** One press shows so much more. As much as is laid out without a pause. */
const PIECE_BYTES = 65_536;

/** More than that in one page helps no one: the file can be downloaded. */
const MAX_PIECES = 16;

/** The text of a record that is too long to be told whole, read from its file piece by piece. */
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
        <p class="dim">{formatBytes(record.bytes - shown)} more: download the file to read on.</p>
      )}
    </>
  );
}
