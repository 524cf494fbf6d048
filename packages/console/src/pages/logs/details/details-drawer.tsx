import { indentJson, type MemberClock } from '@porthole/client';
import { useEffect, useRef } from 'preact/hooks';
import { MessageText } from '../../../log-view/rows/record-row.tsx';
import {
  contextText,
  levelTone,
  recordTime,
  SHOWN_CHARACTERS,
  visibleText,
} from '../../../log-view/rows/record-text.ts';
import type { ShownRecord } from '../../../log-view/source/log-source.ts';
import { cluster, nodeColour } from '../../../state/cluster.ts';
import type { LogsView, ZoneName } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';
import { formatCount, formatDate, formatTime } from '../../../ui/format.ts';
import { useStore } from '../../../ui/hooks.ts';
import { CallSite } from './call-site.tsx';
import { OtherNodes } from './other-nodes.tsx';
import { RecordFieldList } from './record-fields.tsx';
import { RecordRest } from './record-rest.tsx';

/** A message up to this length is rendered at once; a longer one in pieces. */
const MESSAGE_CHARACTERS = 16 * SHOWN_CHARACTERS;

interface DetailsDrawerProps {
  record: ShownRecord;
  view: LogsView;
  zone: ZoneName;
  change: (change: Partial<LogsView>) => void;
  onClose: () => void;
  onCopyLine: () => void;
  onCopyLink: () => void;
  onDownload: () => void;
}

/** More lines would slow the page; the copied line has all of them. */
const MAX_LINES = 400;

/** All details of one record. */
export function DetailsDrawer({ record, view, zone, change, ...actions }: DetailsDrawerProps) {
  const { onClose, onCopyLine, onCopyLink, onDownload } = actions;
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
      <pre class="record-message">
        <MessageText text={record.message.slice(0, MESSAGE_CHARACTERS)} matcher={null} />
      </pre>
      <RecordFieldList {...{ record, view, change }} />
      {record.context ? (
        <details class="json-details">
          <summary>Context as JSON</summary>
          <JsonText text={contextText(record)} />
        </details>
      ) : null}
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
        {/\.(gz|zst|xz|bz2)$/i.test(record.file) ? null : (
          <button
            type="button"
            class="button"
            title="Download 1 MB of the file around this record"
            onClick={onDownload}
          >
            Download around
          </button>
        )}
      </p>
      {nodes.length > 1 ? <OtherNodes record={record} zone={zone} /> : null}
      {record.source ? <CallSite record={record} view={view} zone={zone} /> : null}
    </aside>
  );
}

/** Formatted JSON with dimmed keys. */
function JsonText({ text }: { text: string }) {
  const lines = indentJson(text).split('\n');
  return (
    <pre class="json">
      {lines.slice(0, MAX_LINES).map((line, index) => {
        const [, indent = '', key = '', rest = ''] = /^(\s*)("(?:[^"\\]|\\.)*": )?(.*)$/.exec(line) ?? [];
        return (
          <span key={index}>
            {indent}
            {key ? <span class="dim">{visibleText(key)}</span> : null}
            {visibleText(rest.slice(0, 4096))}
            {'\n'}
          </span>
        );
      })}
      {lines.length > MAX_LINES ? `… ${lines.length - MAX_LINES} more lines` : null}
    </pre>
  );
}

/** The time of a record, its clock correction, and the uncertainty of that. */
export function recordTimeText(record: ShownRecord, clock: MemberClock | null, zone: ZoneName): string {
  const timeMs = recordTime(record);
  if (timeMs === undefined) return 'no timestamp';
  const time = `${formatDate(timeMs, zone)} ${formatTime(timeMs, zone)}`;
  const correctedMs = record.timeMs === undefined ? 0 : timeMs - record.timeMs;
  const unsure = clock && clock.uncertaintyMs > 0 ? ` ± ${seconds(clock.uncertaintyMs)}` : '';
  if (correctedMs === 0) return unsure ? `${time}${unsure}` : time;
  return `${time} · ${correctedMs > 0 ? '+' : '−'}${seconds(Math.abs(correctedMs))} corrected${unsure}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(3)} s`;
}
