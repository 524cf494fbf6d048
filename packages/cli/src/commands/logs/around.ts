import { type AroundRequest, type ClusterRecord, matchesPattern, parseSpan } from '@porthole/contract';
import type { Zone } from '@porthole/logs';
import { EXIT, interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { FILTERS } from '../../parameter-flags.ts';
import { Receipt } from '../../records/receipt.ts';
import { recordStyle, shownZone, sourceClock, timeFlag } from '../../records/record-flags.ts';
import { RecordPrinter } from '../../records/record-printer.ts';
import { findPath } from '../../sources/find-path.ts';
import { clusterBackend, type LogSource } from '../../sources/log-source.ts';
import { openNode } from '../../sources/open-node.ts';
import { storeFlag } from '../../sources/open-sources.ts';
import { fetchMemberIds, queryCluster } from '../../sources/query-cluster.ts';
import { memberSelection } from '../../sources/source-flags.ts';
import { printAround } from './logs.ts';

const DEFAULT_AROUND = '5s';
const DEFAULT_RECORDS = 100;

/** Prints what every node logged around a record or a time, or what other sources have of that time. */
export async function run(given: Invocation): Promise<number> {
  const invocation = given.with({ output: given.text('output') ?? 'pretty' });
  const { nodes, targets } = await splitArguments(invocation);
  if (targets.length === 0 && !hasFilter(invocation)) return printCluster(invocation, nodes);
  // Nodes as other commands take them.
  const refs = nodes.map((node) => `${node}:`);
  const all = targets.length + refs.length === 0 ? invocation.with({ all: true }) : invocation;
  return printAround(all, [...refs, ...targets], {
    aroundMs: parseSpan(invocation.text('around') ?? DEFAULT_AROUND) ?? 0,
    limit: invocation.number('limit') ?? DEFAULT_RECORDS,
    timeMs: async (source, zone) => {
      const at = parseAnchor(invocation, source, zone);
      return 'timeMs' in at ? at.timeMs : findTime(invocation, at);
    },
  });
}

/** Flags that the request for all members does not have. */
const FILTER_NAMES = [...FILTERS.flatMap(({ cli }) => ('absent' in cli ? [] : [cli.long])), 'rotated'];

function hasFilter({ given }: Invocation): boolean {
  return FILTER_NAMES.some((name) => given[name] !== undefined);
}

/** A plain word is a node of the cluster, unless there is such a file here, or it looks like a file and no node has that name. */
async function splitArguments(invocation: Invocation): Promise<{ nodes: string[]; targets: string[] }> {
  const nodes: string[] = [];
  const targets: string[] = [];
  for (const word of invocation.args) {
    const isSource = word === '-' || /[:/]/.test(word) || (await findPath(word, false)) !== undefined;
    const isNode = !isSource && (!word.includes('.') || (await isMember(invocation, word)));
    (isNode ? nodes : targets).push(word);
  }
  return { nodes, targets };
}

async function isMember(invocation: Invocation, pattern: string): Promise<boolean> {
  const ids = await fetchMemberIds(await openNode(invocation));
  return ids.some((id) => matchesPattern(id, pattern));
}

/** When a record was logged, by the clock of the queried node. */
async function findTime(invocation: Invocation, at: { node: string; cursor: string }): Promise<number> {
  const node = await openNode(invocation);
  const request = { at, beforeMs: 1, afterMs: 1, limit: DEFAULT_RECORDS, nodes: [at.node] };
  for await (const items of node.around(request))
    for (const item of items) {
      if (item.type !== 'record' || item.cursor !== at.cursor) continue;
      const timeMs = item.atMs ?? item.timeMs;
      if (timeMs !== undefined) return timeMs;
    }
  throw new ProgramError(`the record ${at.node}:${at.cursor} has no time`);
}

/** The members of the cluster, asked for it as a whole. */
async function printCluster(invocation: Invocation, nodes: readonly string[]): Promise<number> {
  const signal = interruptSignal();
  const { terminal } = invocation;
  const node = await openNode(invocation);
  const backend = clusterBackend(node, { nodes: ['*'] }, await queryCluster(node, () => node.describe({ signal })));
  const source: LogSource = { ...backend, label: 'all nodes', selection: {}, maxRecords: Number.POSITIVE_INFINITY };
  const zone = shownZone(invocation, [source]);
  const at = parseAnchor(invocation, source, zone);
  const style = { ...recordStyle(invocation, [source], zone), ...('node' in at && { anchor: at }) };
  const receipt = new Receipt();
  const printer = new RecordPrinter(terminal, { style, hasContext: false, signal, receipt });
  let count = 0;
  try {
    for await (const items of node.around(buildRequest(invocation, { at, nodes }), { signal })) {
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

function buildRequest(
  invocation: Invocation,
  { at, nodes }: { at: AroundRequest['at']; nodes: readonly string[] },
): AroundRequest {
  const aroundMs = parseSpan(invocation.text('around') ?? DEFAULT_AROUND) ?? 0;
  return {
    at,
    beforeMs: aroundMs,
    afterMs: aroundMs,
    limit: invocation.number('limit') ?? DEFAULT_RECORDS,
    nodes: nodes.length > 0 ? nodes : ['*'],
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
