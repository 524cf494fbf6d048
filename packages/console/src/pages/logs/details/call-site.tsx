import type { ClusterDigest } from '@porthole/client';
import { recordTime } from '../../../log-view/rows/record-text.ts';
import type { ShownRecord } from '../../../log-view/source/log-source.ts';
import { session } from '../../../state/session.ts';
import type { LogsView, ZoneName } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';
import { formatCount, formatTime } from '../../../ui/format.ts';
import { useRequest } from './use-request.ts';

const BUDGET_MS = 3000;

const GROUPS = 50;

const SPAN_MS = 15 * 60_000;

interface CallSiteCount {
  count: number;
  /** Nodes with records of this call site, most first. */
  nodes: string[];
  firstMs: number | null;
  /** Nodes that did not respond, or only in part. */
  silent: string[];
}

/** How often, and on which nodes, the same call site logged around this record. */
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
          {value.nodes.length === 0
            ? ''
            : `, ${value.nodes.length === 1 && value.silent.length === 0 ? 'only on' : 'on'} ${value.nodes.join(', ')}`}
          {value.firstMs === null ? '' : `, first ${formatTime(value.firstMs, zone).slice(0, 8)}`}
          {value.silent.length === 0 ? '' : ` · unknown for ${value.silent.join(', ')}`}
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

/** The time range of the count: the last minutes, or those before an older record. */
export function callSiteSpan(
  timeMs: number | undefined,
  nowMs: number,
): { fromMs: number; toMs: number; text: string } {
  if (timeMs === undefined || nowMs - timeMs < SPAN_MS) return { fromMs: nowMs - SPAN_MS, toMs: nowMs, text: '15 min' };
  return { fromMs: timeMs - SPAN_MS, toMs: timeMs + 1, text: 'the 15 min before it' };
}

export function countCallSite({ groups, members }: Pick<ClusterDigest, 'groups' | 'members'>): CallSiteCount {
  const counts = new Map<string, number>();
  for (const { nodes } of groups)
    for (const [node, count] of Object.entries(nodes)) counts.set(node, (counts.get(node) ?? 0) + count);
  const times = groups.map(({ firstMs }) => firstMs).filter((timeMs) => timeMs !== null);
  return {
    count: groups.reduce((sum, group) => sum + group.count, 0),
    nodes: [...counts].toSorted(([, a], [, b]) => b - a).map(([node]) => node),
    firstMs: times.length === 0 ? null : Math.min(...times),
    silent: members.filter(({ outcome, isPartial }) => outcome !== 'ok' || isPartial).map(({ id }) => id),
  };
}
