import { useEffect, useRef } from 'preact/hooks';
import { MessageText } from '../../../log-view/rows/message-text.tsx';
import { contextText, levelTone, SHOWN_CHARACTERS, tagsText, visibleText } from '../../../log-view/rows/record-text.ts';
import type { ShownRecord } from '../../../log-view/source/log-source.ts';
import { cluster, nodeColour } from '../../../state/cluster.ts';
import type { LogsView, ZoneName } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';
import { formatCount } from '../../../ui/format.ts';
import { useStore } from '../../../ui/hooks/use-store.ts';
import { CallSite } from './call-site.tsx';
import { JsonText } from './json-text.tsx';
import { OtherNodes } from './other-nodes.tsx';
import { RecordRest } from './record-rest.tsx';
import { recordTimeText } from './record-time-text.ts';

/** A message of this length is laid out at once; a longer one is shown by pieces. */
const MESSAGE_CHARACTERS = 16 * SHOWN_CHARACTERS;

export interface DetailsDrawerProps {
  record: ShownRecord;
  view: LogsView;
  zone: ZoneName;
  onClose: () => void;
  onCopyLine: () => void;
  onCopyLink: () => void;
  onDownload: () => void;
}

/** Everything about one record. */
export function DetailsDrawer({ record, view, zone, onClose, onCopyLine, onCopyLink, onDownload }: DetailsDrawerProps) {
  const nodes = useStore(cluster.state).value?.nodes ?? [];
  const clock = nodes.find(({ id }) => id === record.node)?.clock ?? null;
  const isLong = record.cut === true || record.message.length > MESSAGE_CHARACTERS;
  const box = useRef<HTMLElement>(null);
  useEffect(() => box.current?.scrollTo(0, 0), [record.cursor]);
  return (
    <aside ref={box} class="details" aria-label="Details of the record">
      <header>
        <h2>Record</h2>
        <button type="button" class="icon-button" aria-label="Close the details (Escape)" onClick={onClose}>
          ×
        </button>
      </header>
      <p class="dim">
        {recordTimeText(record, clock, zone)} · <b class={`row-node node-${nodeColour(record.node)}`}>{record.node}</b>
      </p>
      <p class={`row-${levelTone(record.level)}`}>
        <b class="row-level">{record.level ?? 'no level'}</b>{' '}
        {record.source ? (
          <a href={viewUrl({ ...view, callSite: record.source, at: null, timeMs: null, isLive: false })}>
            {visibleText(record.source)}
          </a>
        ) : null}
      </p>
      {record.tags ? <p>{visibleText(tagsText(record))}</p> : null}
      <pre class="record-message">
        <MessageText text={record.message.slice(0, MESSAGE_CHARACTERS)} matcher={null} />
      </pre>
      {record.context ? <JsonText text={contextText(record)} /> : null}
      {isLong ? <RecordRest record={record} /> : null}
      <p class="dim">
        {record.file} · byte {formatCount(record.offset)} · {formatCount(record.bytes)} bytes
      </p>
      <p class="details-actions">
        <button type="button" class="button" onClick={onCopyLine}>
          Copy line
        </button>
        <button type="button" class="button" onClick={onCopyLink}>
          Copy link
        </button>
        {record.file.endsWith('.gz') ? null : (
          <button type="button" class="button" title="A megabyte of the file around this record" onClick={onDownload}>
            Download around
          </button>
        )}
      </p>
      {nodes.length > 1 ? <OtherNodes record={record} zone={zone} /> : null}
      {record.source ? <CallSite record={record} view={view} zone={zone} /> : null}
    </aside>
  );
}
