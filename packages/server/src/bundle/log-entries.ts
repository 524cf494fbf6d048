import { isPackedName, plainName } from '@porthole/logs';
import type { BundleContext } from './bundle-context.ts';
import { describeError } from './bundle-writer.ts';
import { type LogPart, readPart } from './log-part.ts';
import { mergedLog } from './merged-log.ts';
import { fitParts, type LogPlanDeps, planLogs } from './plan-logs.ts';

/**
 * Share of the remaining room for the files. The rest is for the merged log, which contains the same text again, prefixed
 * with node and file.
 */
const FILES_SHARE = 0.4;

/** The logs of the members: merged by time, and file by file. */
export async function addLogs(context: BundleContext): Promise<void> {
  const { writer, signal } = context;
  let planned: LogPart[] = [];
  try {
    planned = await planParts(context);
  } catch (error) {
    signal.throwIfAborted();
    writer.addMissing('logs', describeError(error));
  }
  await addMerged(context, planned);
  for (const part of planned) await addPart(context, part);
}

async function planParts({ cluster, request, nodes, writer, signal }: BundleContext): Promise<LogPart[]> {
  const { fromMs, toMs, ...selection } = request;
  const planning: LogPlanDeps = {
    cluster,
    range: { fromMs, toMs },
    clocks: nodes.nodes,
    signal,
    reportMissing: ({ node, file }, reason) =>
      writer.addMissing(`logs/${node}${file === undefined ? '' : `/${file}`}`, reason, node),
  };
  const { files, members } = await cluster.logFiles(selection, { signal });
  for (const { id, outcome, detail } of members)
    if (outcome !== 'ok' && outcome !== 'left')
      planning.reportMissing({ node: id }, detail === null ? outcome : `${outcome}: ${detail}`);
  // Of a member that does not respond only the list of files is known, not their text.
  const responding = new Set(members.filter(({ outcome }) => outcome === 'ok').map(({ id }) => id));
  const readable = files.filter(({ node }) => responding.has(node));
  return fitParts(await planLogs(readable, planning), Math.floor(writer.remainingBytes * FILES_SHARE), planning);
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
  await writer.add(name, chunks, { node, file, isCut, problems });
}

function cutReason({ kind, bytes, range }: LogPart): string {
  if (kind === 'end') return `only its last ${bytes} bytes`;
  return `only from ${new Date(range.fromMs).toISOString()} on, by its own clock: the size limit is reached`;
}
