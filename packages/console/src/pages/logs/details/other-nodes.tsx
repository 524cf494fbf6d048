import type { ClusterItem, ClusterRecord } from '@porthole/client';
import { absenceText, coverageOf, gapsText } from '@porthole/contract';
import { stripAnsi } from '../../../log-view/rows/ansi-segments.ts';
import { levelTone, oneLine, recordTime, visibleText } from '../../../log-view/rows/record-text.ts';
import type { ShownRecord } from '../../../log-view/source/log-source.ts';
import { nodeColour } from '../../../state/cluster.ts';
import { session } from '../../../state/session.ts';
import { ALL_LOGS, type ZoneName } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';
import { formatTime } from '../../../ui/format.ts';
import { useRequest } from './use-request.ts';

const AROUND_MS = 2000;

const PER_NODE = 20;

/** Records shown; the rest is one click away. */
const MAX_RECORDS = 8;

const RANKS = { error: 0, warning: 1, plain: 2, quiet: 3 } as const;

/** Records of other nodes around the time of this one. */
export function OtherNodes({ record, zone }: { record: ShownRecord; zone: ZoneName }) {
  const { node, cursor } = record;
  const { value, failure } = useRequest(`${node} ${cursor}`, async (signal) => {
    const items: ClusterItem[] = [];
    const request = { at: { node, cursor }, beforeMs: AROUND_MS, afterMs: AROUND_MS, limit: PER_NODE };
    for await (const batch of session.client.cluster.around(request, { signal })) items.push(...batch);
    const end = items.find((item) => item.type === 'end');
    return { records: pickNearbyRecords(items, record), coverage: coverageOf(end ?? { reason: 'cancelled' }) };
  });
  return (
    <section>
      <h3>Other nodes at this time</h3>
      {failure ? (
        <p class="field-problem">
          {failure.code}: {failure.detail}
        </p>
      ) : null}
      {value?.records.length === 0 ? (
        <p class="dim" title={gapsText(value.coverage)}>
          {absenceText('Nothing within 2 s on other nodes', value.coverage)}
        </p>
      ) : null}
      <ul class="elsewhere">
        {value?.records.map((other) => (
          <li
            key={`${other.node} ${other.cursor}`}
            class={`row-${levelTone(other.level)} node-${nodeColour(other.node)}`}
          >
            <a
              href={viewUrl({ ...ALL_LOGS, at: { node: other.node, cursor: other.cursor }, isLive: false })}
              title={`${formatTime(recordTime(other) ?? 0, zone)} ${other.level ?? ''}`}
            >
              <b class="row-node">{other.node}</b> <span class="row-level">{other.level?.slice(0, 1)}</span>{' '}
              <span>{visibleText(stripAnsi(oneLine(other.message.slice(0, 200))))}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Picks records around a time: highest level first, then nearest; returned in order of time. */
export function pickNearbyRecords(items: readonly ClusterItem[], record: ClusterRecord): ClusterRecord[] {
  const atMs = recordTime(record) ?? 0;
  const distance = (other: ClusterRecord) => Math.abs((recordTime(other) ?? 0) - atMs);
  return items
    .filter((item) => item.type === 'record')
    .filter(({ node }) => node !== record.node)
    .toSorted((a, b) => RANKS[levelTone(a.level)] - RANKS[levelTone(b.level)] || distance(a) - distance(b))
    .filter(isNew())
    .slice(0, MAX_RECORDS)
    .toSorted((a, b) => (recordTime(a) ?? 0) - (recordTime(b) ?? 0));
}

/** Removes repeated messages of a node, keeping the nearest one. */
function isNew(): (record: ClusterRecord) => boolean {
  const seen = new Set<string>();
  return ({ node, source, message }) => {
    const recordId = JSON.stringify([node, source, message]);
    const isFirst = !seen.has(recordId);
    seen.add(recordId);
    return isFirst;
  };
}
