import {
  type ClusterEnd,
  type ClusterState,
  clusterItems,
  type MemberReport,
  type MemberSelection,
} from '@porthole/contract';
import { isPackedName, plainName, type SearchQuery } from '@porthole/logs';
import { isBatch, renderText } from '@porthole/records';
import { type BundleContext, describeError, safePath } from './bundle-writer.ts';
import {
  cutPart,
  type FittedPart,
  fitParts,
  type LogPart,
  type LogPlanDeps,
  planLogs,
  readPart,
  shareRoom,
} from './plan-logs.ts';

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
  await addRecordedLogs(context, absent);
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
  for (const { id, outcome, detail, recordedBy } of members)
    if (outcome !== 'ok' && outcome !== 'left') {
      const reason = detail === null ? outcome : `${outcome}: ${detail}`;
      const kept = recordedBy === undefined ? '' : '; that is included';
      planning.reportMissing({ node: id }, `${reason}${kept}`);
    }
  // Of a member that does not respond, the records that were recorded are included, not all of its files.
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

interface MergedLogOptions {
  /** Time range of the records, by this node's clock. */
  range: { fromMs: number; toMs: number };
  selection: MemberSelection;
  /** Records per search. */
  pageRecords: number;
  /** Time budget of one search. */
  budgetMs: number;
  signal: AbortSignal;
  /** Problems of what was written; each is reported once. */
  report(problem: string): void;
}

/**
 * The records of all members, oldest first, by corrected time: in the line format of the contract, in UTC. The memory of a
 * chunk is used again when the next one is requested.
 */
export async function* mergedLog(
  cluster: Pick<ClusterState, 'search'>,
  options: MergedLogOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { range, selection, pageRecords, budgetMs, signal, report } = options;
  const query: SearchQuery & MemberSelection = {
    ...selection,
    ...range,
    order: 'oldest',
    limit: pageRecords,
    before: 0,
    after: 0,
  };
  const reported = new Set<string>();
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = cursor === undefined ? query : { ...query, start: { cursor } };
    let end: ClusterEnd | undefined;
    for await (const item of cluster.search(page, { signal, budgetMs, reusesMemory: true })) {
      if (isBatch(item)) yield renderText(item, 'columns').bytes;
      else end = item;
    }
    signal.throwIfAborted();
    for (const problem of memberProblems(end)) {
      if (!reported.has(problem)) report(problem);
      reported.add(problem);
    }
    if (end?.records === 0 && end.cursor === cursor) throw new Error('the search makes no progress');
    cursor = end?.cursor ?? null;
  }
}

function memberProblems(end: ClusterEnd | undefined): string[] {
  const failed = (end?.members ?? []).filter(({ outcome }) => outcome !== 'ok' && outcome !== 'left');
  return failed.map(({ id, outcome, detail }) => `${id}: ${outcome}${detail === null ? '' : `: ${detail}`}`);
}

/** What was recorded of members that do not respond, file by file: what is in the merged log has its own place, too. */
async function addRecordedLogs(context: BundleContext, absent: readonly MemberReport[]): Promise<void> {
  const { writer, signal } = context;
  for (const { id } of absent) {
    try {
      await addMember(context, id);
    } catch (error) {
      signal.throwIfAborted();
      writer.addMissing(safePath(['logs', id]), describeError(error), id);
    }
  }
}

async function addMember(context: BundleContext, id: string): Promise<void> {
  const { writer, names } = context;
  const { linesByFile, report } = await readRecords(context, id);
  const why = report?.detail ?? report?.outcome ?? 'it did not respond';
  for (const [file, lines] of linesByFile) {
    const name = names.take(['logs', id, isPackedName(file) ? plainName(file) : file]);
    const problems = [`only what was recorded: ${why}`];
    await writer.add(name, chunked(lines), { node: id, file, isCut: true, problems });
  }
}

/** A recording is bounded, so its records are held at once. */
async function readRecords(
  { cluster, request, sources, signal }: BundleContext,
  id: string,
): Promise<{ linesByFile: Map<string, string[]>; report: MemberReport | undefined }> {
  const { fromMs, toMs } = request;
  const query: SearchQuery = {
    fromMs,
    toMs,
    order: 'oldest',
    limit: sources.maxRecords,
    before: 0,
    after: 0,
    raw: true,
  };
  const linesByFile = new Map<string, string[]>();
  let report: MemberReport | undefined;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = cursor === undefined ? query : { ...query, start: { cursor } };
    const last = cursor;
    cursor = null;
    const selection = { nodes: [id], store: 'nodes' as const };
    for await (const items of clusterItems(
      cluster,
      { ...page, ...selection },
      { signal, budgetMs: sources.searchBudgetMs },
    ))
      for (const item of items) {
        if (item.type === 'end') {
          report = item.members.find((member) => member.id === id);
          cursor = item.cursor === last ? null : item.cursor;
          continue;
        }
        const lines = linesByFile.get(item.file) ?? [];
        lines.push(`${item.raw ?? item.message}\n`);
        linesByFile.set(item.file, lines);
      }
    signal.throwIfAborted();
  }
  return { linesByFile, report };
}

async function* chunked(lines: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(lines.join(''));
}
