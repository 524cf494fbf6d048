import { recordTime } from '../../../log-view/rows/record-text.ts';
import type { ShownRecord } from '../../../log-view/source/log-source.ts';
import { session } from '../../../state/session.ts';
import type { LogsView, ZoneName } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';
import { formatCount, formatTime } from '../../../ui/format.ts';
import { callSiteSpan, countCallSite } from './call-site-count.ts';
import { useRequest } from './use-request.ts';

const BUDGET_MS = 3000;
const GROUPS = 50;

/** How often the same place in the code spoke in the minutes around this record, and where. */
export function CallSite({ record, view, zone }: { record: ShownRecord; view: LogsView; zone: ZoneName }) {
  const site = record.source ?? '';
  const span = callSiteSpan(recordTime(record), Date.now());
  const { value, failure } = useRequest(`${record.node} ${record.cursor}`, async (signal) => {
    const { fromMs, toMs } = span;
    const request = { source: site, fromMs, toMs, limit: GROUPS };
    return countCallSite(await session.client.cluster.logDigest(request, { signal, budgetMs: BUDGET_MS }));
  });
  return (
    <section>
      <h3>This call site</h3>
      {failure ? (
        <p class="field-problem">
          {failure.code}: {failure.detail}
        </p>
      ) : null}
      {value ? (
        <p>
          {formatCount(value.count)}× in {span.text}
          {value.nodes.length === 0 ? '' : `, ${value.nodes.length === 1 ? 'only on' : 'on'} ${value.nodes.join(', ')}`}
          {value.firstMs === null ? '' : `, first ${formatTime(value.firstMs, zone).slice(0, 8)}`}
          {value.silent.length === 0 ? '' : ` · not known of ${value.silent.join(', ')}`}
        </p>
      ) : null}
      <p>
        <a href={viewUrl({ ...view, callSite: site, at: null, timeMs: null, isLive: false })}>
          Only records from {site}
        </a>
      </p>
    </section>
  );
}
