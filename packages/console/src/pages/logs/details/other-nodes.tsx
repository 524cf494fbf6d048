import type { ClusterItem } from '@porthole/client';
import { stripAnsi } from '../../../log-view/rows/ansi-segments.ts';
import { levelTone, oneLine, recordTime, visibleText } from '../../../log-view/rows/record-text.ts';
import type { ShownRecord } from '../../../log-view/source/log-source.ts';
import { nodeColour } from '../../../state/cluster.ts';
import { session } from '../../../state/session.ts';
import { ALL_LOGS, type ZoneName } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';
import { formatTime } from '../../../ui/format.ts';
import { pickNearbyRecords } from './pick-nearby-records.ts';
import { useRequest } from './use-request.ts';

const AROUND_MS = 2000;
const PER_NODE = 20;

/** What the other nodes said at the moment of this record. */
export function OtherNodes({ record, zone }: { record: ShownRecord; zone: ZoneName }) {
  const { node, cursor } = record;
  const { value, failure } = useRequest(`${node} ${cursor}`, async (signal) => {
    const items: ClusterItem[] = [];
    const request = { at: { node, cursor }, beforeMs: AROUND_MS, afterMs: AROUND_MS, limit: PER_NODE };
    for await (const batch of session.client.cluster.around(request, { signal })) items.push(...batch);
    return pickNearbyRecords(items, record);
  });
  return (
    <section>
      <h3>At this moment, elsewhere</h3>
      {failure ? (
        <p class="field-problem">
          {failure.code}: {failure.detail}
        </p>
      ) : null}
      {value?.length === 0 ? <p class="dim">Nothing within 2 s on other nodes</p> : null}
      <ul class="elsewhere">
        {value?.map((other) => (
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
