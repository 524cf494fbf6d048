import { type AroundRequest, matchesPattern, parseSpan } from '@porthole/contract';
import type { Zone } from '@porthole/logs';
import { interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { type RecordList, recordLists } from '../../records/find-pages.ts';
import { type Lane, mergeRecords } from '../../records/merge-sources.ts';
import { recordFilter, recordStyle, shownZone, sourceClock, timeFlag } from '../../records/record-flags.ts';
import { RecordRun } from '../../records/record-run.ts';
import { findPath } from '../../sources/find-path.ts';
import type { LogSource } from '../../sources/log-source.ts';
import { openNode } from '../../sources/open-node.ts';
import { explainMissingLog, openSources } from '../../sources/open-sources.ts';
import { fetchMemberIds } from '../../sources/resolve-node.ts';
import { namedMembers } from '../../sources/source-flags.ts';

const DEFAULT_AROUND = '5s';
const DEFAULT_RECORDS = 100;

/** Prints what nodes and local files logged around a record or a time. */
export async function run(given: Invocation): Promise<number> {
  const invocation = given.with({ output: given.text('output') ?? 'pretty' });
  const signal = interruptSignal();
  const { nodes, targets } = await splitArguments(invocation);
  const members = nodes.length > 0 || targets.length === 0 ? namedMembers(invocation, nodes) : undefined;
  const { sources, close } = await openSources(invocation, targets, members);
  try {
    const zone = shownZone(invocation, sources);
    const at = parseAnchor(invocation, sources, zone);
    const style = { ...recordStyle(invocation, sources, zone), ...('node' in at && { anchor: at }) };
    const records = new RecordRun(invocation, { style, hasContext: false, signal });
    const limit = invocation.number('limit') ?? DEFAULT_RECORDS;
    const aroundMs = parseSpan(invocation.text('around') ?? DEFAULT_AROUND) ?? 0;
    const lanes = sources.map((source) => {
      const { fromMs: _fromMs, toMs: _toMs, ...filter } = recordFilter(invocation, source, zone);
      const request = { at, beforeMs: aroundMs, afterMs: aroundMs, limit, ...source.selection, ...filter };
      return openLane(source, request, records, signal);
    });
    try {
      for await (const found of mergeRecords(lanes, { order: 'oldest' })) await records.print(found);
      await records.finish();
      records.printReceipt({ limit, isAlways: false });
      return records.exitCode();
    } finally {
      records.end();
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : await explainMissingLog(error, sources);
  } finally {
    await close();
  }
}

function openLane(
  source: LogSource,
  request: AroundRequest,
  records: RecordRun,
  signal: AbortSignal,
): Lane<RecordList> {
  const batches = (async function* () {
    for await (const { batch, end } of recordLists(source.state.around(request, { signal }))) {
      if (batch) yield batch;
      if (!end) continue;
      records.receipt.add(end, source);
      if (end.reason === 'limit') records.addMore();
    }
  })();
  return { source, batches, finish: async () => {} };
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

/** Cursors contain no colon, so the last colon ends the node id. */
function parseAnchor(invocation: Invocation, [source]: readonly LogSource[], zone: Zone): AroundRequest['at'] {
  const record = invocation.text('at');
  const timeMs = source && timeFlag(invocation, 'time', sourceClock(source, zone));
  if ((record === undefined) === (timeMs === undefined))
    throw new ProgramError('expected either --at NODE:CURSOR or --time');
  if (timeMs !== undefined) return { timeMs };
  const [, node = '', cursor = ''] = /^(.+):([^:]+)$/s.exec(record ?? '') ?? [];
  if (cursor === '')
    throw new ProgramError(`invalid --at ${JSON.stringify(record)}: expected NODE:CURSOR, as shown by -o json`);
  return { node, cursor };
}
