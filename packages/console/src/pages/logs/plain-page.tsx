import { useMemo } from 'preact/hooks';
import { recordLine, stripAnsi, visibleText } from '../../log-view/rows/record-text.ts';
import { type LogSource, recordKey, type ShownRecord } from '../../log-view/source/log-source.ts';
import { openSource, toFilter } from '../../log-view/source/view-source.ts';
import type { LogsView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { formatCounted } from '../../ui/format.ts';
import { useLoaded } from '../../ui/hooks.ts';
import { Loading } from '../../ui/notes.tsx';
import { sourceKey, toRecordKey, toStart } from './use-log-workspace.ts';

/** Records loaded on each side of the position, or before the end. */
const RECORDS = 1000;

const BUDGET_MS = 10_000;

/** What is typed into the address quickly is not loaded in between. */
const PAUSE_MS = 200;

interface PlainRecords {
  records: ShownRecord[];
  isFromStart: boolean;
  isToEnd: boolean;
}

/** The records as plain text: for the browser's search, screen readers and printing. */
export function PlainPage({ view }: { view: LogsView }) {
  const sources = sourceKey(view);
  const source = useMemo(() => openSource(view), [sources]);
  const { value, failure } = useLoaded(viewUrl(view), (signal) => loadAround(source, view, signal), {
    pauseMs: PAUSE_MS,
  });
  const linkTo = (record: ShownRecord) => viewUrl({ ...view, at: toRecordKey(record), timeMs: null, isLive: false });
  const oldest = value?.records[0];
  const newest = value?.records.at(-1);
  const withNode = new Set(value?.records.map(({ node }) => node)).size > 1;
  return (
    <div class="col plain">
      <h1 class="sr-only">Log records as text</h1>
      <p class="flex wrap plain-links">
        <a href={viewUrl({ ...view, isPlain: false })}>Back to the workspace</a>
        {oldest && !value?.isFromStart ? <a href={linkTo(oldest)}>Older records</a> : null}
        {newest && !value?.isToEnd ? <a href={linkTo(newest)}>Newer records</a> : null}
        {value ? <span class="dim">{countText(value)}</span> : null}
      </p>
      {failure ? (
        <p class="field-problem" role="alert">
          {failure.code}: {failure.detail}
        </p>
      ) : null}
      {value === null && !failure ? <Loading what="the records" /> : null}
      {value ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard
        <section class="card" tabIndex={0} aria-label="Log records">
          <pre class="card-body">
            {value.records.map((record) => visibleText(stripAnsi(recordLine(record, { withNode })))).join('\n')}
          </pre>
        </section>
      ) : null}
    </div>
  );
}

/** The records around the position of the view, oldest first. */
async function loadAround(source: LogSource, view: LogsView, signal: AbortSignal): Promise<PlainRecords> {
  const from = toStart(view);
  const filter = toFilter(view, Date.now());
  const fetchPage = (direction: 'older' | 'newer') =>
    source.page({ direction, from, limit: RECORDS, filter }, { signal, budgetMs: BUDGET_MS });
  const [newer, older] = await Promise.all([from === 'end' ? null : fetchPage('newer'), fetchPage('older')]);
  const newerRecords = newer?.records ?? [];
  // Records of the same millisecond may be in both pages.
  const known = new Set(newerRecords.map(recordKey));
  return {
    records: [...older.records.filter((record) => !known.has(recordKey(record))), ...newerRecords],
    isFromStart: older.next === null,
    isToEnd: newer === null || newer.next === null,
  };
}

function countText({ records, isFromStart, isToEnd }: PlainRecords): string {
  const count = formatCounted(records.length, 'record');
  if (isFromStart && isToEnd) return `All ${count}`;
  if (isFromStart) return `First ${count}`;
  return isToEnd ? `Last ${count}` : count;
}
