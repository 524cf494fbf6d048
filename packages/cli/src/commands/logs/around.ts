import { type AroundRequest, type ClusterRecord, parseSpan } from '@porthole/contract';
import type { Zone } from '@porthole/logs';
import { EXIT, interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { Receipt } from '../../records/receipt.ts';
import { recordStyle, shownZone, sourceClock, timeFlag } from '../../records/record-flags.ts';
import { RecordPrinter } from '../../records/record-printer.ts';
import { clusterBackend, type LogSource } from '../../sources/log-source.ts';
import { openNode } from '../../sources/open-node.ts';
import { storeFlag } from '../../sources/open-sources.ts';
import { queryCluster } from '../../sources/query-cluster.ts';
import { memberSelection } from '../../sources/source-flags.ts';

const DEFAULT_AROUND = '5s';
const DEFAULT_RECORDS = 100;

/** Prints what every node logged around a record or a time. */
export async function run(given: Invocation): Promise<number> {
  const invocation = given.with({ output: given.text('output') ?? 'pretty' });
  const signal = interruptSignal();
  const { terminal } = invocation;
  const node = await openNode(invocation);
  const backend = clusterBackend(node, {}, await queryCluster(node, () => node.describe({ signal })));
  const source: LogSource = { ...backend, label: 'all nodes', selection: {}, maxRecords: Number.POSITIVE_INFINITY };
  const zone = shownZone(invocation, [source]);
  const at = parseAnchor(invocation, source, zone);
  const style = { ...recordStyle(invocation, [source], zone), ...('node' in at && { anchor: at }) };
  const receipt = new Receipt();
  const printer = new RecordPrinter(terminal, { style, hasContext: false, signal, receipt });
  let count = 0;
  try {
    for await (const items of node.cluster.around(buildRequest(invocation, at), { signal })) {
      const records = items.filter((item): item is ClusterRecord => item.type === 'record');
      count += records.length;
      await printer.print(records.map((record) => ({ source, record })));
      const end = items.at(-1);
      if (end?.type === 'end') receipt.add(end);
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
  receipt.warn(terminal);
  if (receipt.isPartial) return EXIT.partial;
  return count > 0 ? EXIT.ok : EXIT.different;
}

function buildRequest(invocation: Invocation, at: AroundRequest['at']): AroundRequest {
  const aroundMs = parseSpan(invocation.text('around') ?? DEFAULT_AROUND) ?? 0;
  return {
    at,
    beforeMs: aroundMs,
    afterMs: aroundMs,
    limit: invocation.number('limit') ?? DEFAULT_RECORDS,
    ...(invocation.args.length > 0 && { nodes: invocation.args }),
    ...memberSelection(invocation),
    ...storeFlag(invocation),
  };
}

/** Cursors contain no colon, so the last colon ends the node id. */
function parseAnchor(invocation: Invocation, source: LogSource, zone: Zone): AroundRequest['at'] {
  const record = invocation.text('at');
  const timeMs = timeFlag(invocation, 'time', sourceClock(source, zone));
  if ((record === undefined) === (timeMs === undefined))
    throw new ProgramError('expected either --at NODE:CURSOR or --time');
  if (timeMs !== undefined) return { timeMs };
  const [, node = '', cursor = ''] = /^(.+):([^:]+)$/s.exec(record ?? '') ?? [];
  if (cursor === '')
    throw new ProgramError(`invalid --at ${JSON.stringify(record)}: expected NODE:CURSOR, as shown by -o json`);
  return { node, cursor };
}
