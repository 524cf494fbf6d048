import { useMemo } from 'preact/hooks';
import { stripAnsi } from '../../log-view/ansi-segments.ts';
import { createSource } from '../../log-view/create-source.ts';
import { recordLine, visibleText } from '../../log-view/record-text.ts';
import { cluster } from '../../state/cluster.ts';
import { session } from '../../state/session.ts';
import type { LogsView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { formatCount } from '../../ui/format.ts';
import { Loading } from '../../ui/loading.tsx';
import { keyOfRecord } from './address-of.ts';
import { filterOf, startOf } from './apply-view.ts';
import { useAnswer } from './use-answer.ts';

const RECORDS = 2000;
const BUDGET_MS = 10_000;

/** The records as one text: for the browser's own search, for screen readers, and for printing. */
export function PlainPage({ view }: { view: LogsView }) {
  const sources = JSON.stringify(view.sources);
  const source = useMemo(
    () => createSource(view.sources, { client: session.client, clusterNodes: () => cluster.state.value.value }),
    [sources],
  );
  const { value, failure } = useAnswer(viewUrl(view), (signal) =>
    source.page(
      { direction: 'older', from: startOf(view), limit: RECORDS, filter: filterOf(view, Date.now()) },
      { signal, budgetMs: BUDGET_MS },
    ),
  );
  const oldest = value?.records[0];
  const withNode = new Set(value?.records.map(({ node }) => node)).size > 1;
  return (
    <div class="plain">
      <h1 class="sr-only">Log records as text</h1>
      <p class="plain-links">
        <a href={viewUrl({ ...view, isPlain: false })}>Back to the workspace</a>
        {oldest && value?.next !== null ? (
          <a href={viewUrl({ ...view, at: keyOfRecord(oldest), timeMs: null, isLive: false })}>Older records</a>
        ) : null}
        {value ? (
          <span class="dim">
            {formatCount(value.records.length)} records{value.next === null ? ', from the start of the log' : ''}
          </span>
        ) : null}
      </p>
      {failure ? (
        <p class="field-problem" role="alert">
          {failure.code}: {failure.detail}
        </p>
      ) : null}
      {value === null && !failure ? <Loading what="the records" /> : null}
      {value ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard
        <section tabIndex={0} aria-label="Log records">
          <pre>
            {value.records.map((record) => visibleText(stripAnsi(recordLine(record, { withNode })))).join('\n')}
          </pre>
        </section>
      ) : null}
    </div>
  );
}
