import type { MemberReport } from '@porthole/contract';
import { isPackedName, plainName } from '@porthole/logs';
import { type BundleContext, safePath } from './bundle-context.ts';
import { describeError } from './bundle-writer.ts';
import { type LogPart, readPart } from './log-part.ts';
import { mergedLog } from './merged-log.ts';
import { cutPart, type FittedPart, fitParts, type LogPlanDeps, planLogs, shareRoom } from './plan-logs.ts';
import { addSnapshotLogs } from './snapshot-logs.ts';

/**
 * Share of the remaining room for the files. The rest is for the merged log, which contains the same text again, prefixed
 * with node and file.
 */
const FILES_SHARE = 0.4;

/** The logs of the members: merged by time, and file by file. */
export async function addLogs(context: BundleContext): Promise<void> {
  const { writer, signal } = context;
  const room = Math.floor(writer.remainingBytes * FILES_SHARE);
  let planned: readonly FittedPart[] = [];
  let absent: readonly MemberReport[] = [];
  try {
    ({ planned, absent } = await planParts(context, room));
  } catch (error) {
    signal.throwIfAborted();
    writer.addMissing('logs', describeError(error));
  }
  await addMerged(
    context,
    planned.map(({ fitted }) => fitted),
  );
  await addParts(context, planned, room);
  await addSnapshotLogs(context, absent);
}

async function planParts(
  { cluster, request, nodes, writer, signal }: BundleContext,
  room: number,
): Promise<{ planned: readonly FittedPart[]; absent: readonly MemberReport[] }> {
  const { fromMs, toMs, ...selection } = request;
  const planning: LogPlanDeps = {
    cluster,
    range: { fromMs, toMs },
    clocks: nodes.nodes,
    signal,
    reportMissing: ({ node, file }, reason) =>
      writer.addMissing(safePath(['logs', node, ...(file === undefined ? [] : [file])]), reason, node),
  };
  const { files, members } = await cluster.logFiles(selection, { signal });
  for (const { id, outcome, detail, asOfMs } of members)
    if (outcome !== 'ok' && outcome !== 'left') {
      const reason = detail === null ? outcome : `${outcome}: ${detail}`;
      const kept = asOfMs === null ? '' : `; what its snapshot of ${new Date(asOfMs).toISOString()} has is included`;
      planning.reportMissing({ node: id }, `${reason}${kept}`);
    }
  // Of a member that does not respond the list of files is known, but not their text, only the records of its snapshot.
  const responding = new Set(members.filter(({ outcome }) => outcome === 'ok').map(({ id }) => id));
  const readable = files.filter(({ node }) => responding.has(node));
  const planned = await fitParts(await planLogs(readable, planning), room, planning);
  return { planned, absent: members.filter(({ outcome, asOfMs }) => outcome !== 'ok' && asOfMs !== null) };
}

/** Starts where all files are included: before that, some would seem to have been silent. */
async function addMerged(context: BundleContext, planned: readonly LogPart[]): Promise<void> {
  const { writer, names, cluster, request, nodes, sources, signal } = context;
  const { fromMs, toMs, ...selection } = request;
  const clockOffsetMs = (node: string) => Math.round(nodes.nodes.find(({ id }) => id === node)?.clock?.offsetMs ?? 0);
  const cut = planned.filter(({ isCut, kind }) => isCut && kind !== 'end');
  const beginMs = Math.max(fromMs, ...cut.map(({ node, range }) => range.fromMs - clockOffsetMs(node)));
  const isCut = beginMs > fromMs;
  const problems = isCut
    ? [`starts at ${new Date(beginMs).toISOString()}: not all files are included before that`]
    : [];
  const lines = mergedLog(cluster, {
    range: { fromMs: Math.min(beginMs, toMs - 1), toMs },
    selection,
    pageRecords: sources.maxRecords,
    budgetMs: sources.searchBudgetMs,
    signal,
    report: (problem) => problems.push(problem),
  });
  await writer.add(names.take(['logs', 'merged.log']), lines, { isCut, problems });
}

/** Room that one did not need is shared by those behind it: they may begin earlier than the merged log, never later. */
async function addParts(context: BundleContext, planned: readonly FittedPart[], filesRoom: number): Promise<void> {
  const { writer, signal } = context;
  let room = filesRoom;
  for (const [index, { whole, fitted }] of planned.entries()) {
    let part = fitted;
    if (fitted !== whole) {
      const [size = 0] = shareRoom(
        planned.slice(index).map((each) => each.whole),
        room,
      );
      // A member that fails now delivers the part that was planned, or the reason why not.
      if (size > fitted.bytes) part = (await cutPart(whole, size, context).catch(unlessEnded(signal))) ?? fitted;
    }
    const before = writer.remainingBytes;
    await addPart(context, part);
    room -= before - writer.remainingBytes;
  }
}

/** For `.catch`: throws only if the bundle itself has ended. */
function unlessEnded(signal: AbortSignal): () => undefined {
  return () => void signal.throwIfAborted();
}

async function addPart({ writer, names, cluster, sources, signal }: BundleContext, part: LogPart): Promise<void> {
  const { node, file, isCut } = part;
  const problems = isCut ? [cutReason(part)] : [];
  const chunks = readPart(cluster.member(node), part, {
    signal,
    pageRecords: sources.maxRecords,
    budgetMs: sources.searchBudgetMs,
    report: (problem) => problems.push(problem),
  });
  const name = names.take(['logs', node, isPackedName(file) ? plainName(file) : file]);
  await writer.add(name, someOf(chunks, part), { node, file, isCut, problems, maxBytes: maxBytes(part) });
}

/** Fails for a part of which nothing comes. */
async function* someOf(
  chunks: AsyncIterable<Uint8Array>,
  { bytes }: LogPart,
): AsyncGenerator<Uint8Array, void, undefined> {
  let isEmpty = bytes > 0;
  for await (const chunk of chunks) {
    isEmpty &&= chunk.length === 0;
    yield chunk;
  }
  if (isEmpty) throw new Error(`the member lists ${bytes} bytes of it and delivers none`);
}

/** What may come of a part: LinDB adds a line feed; decoded records have three bytes for one that is not UTF-8. */
function maxBytes({ kind, bytes }: LogPart): number {
  return kind === 'records' ? bytes * 3 : bytes + 1;
}

function cutReason({ kind, bytes, range }: LogPart): string {
  if (kind === 'end') return `only its last ${bytes} bytes`;
  return `only from ${new Date(range.fromMs).toISOString()} on, by its own clock: the size limit is reached`;
}
