import type { MemberReport } from '@porthole/contract';
import { clusterItems } from '@porthole/contract';
import { isPackedName, plainName } from '@porthole/logs';
import type { SearchQuery } from '@porthole/logs/types';
import { type BundleContext, safePath } from './bundle-context.ts';
import { describeError } from './bundle-writer.ts';

/** The records that are kept of members that do not respond, file by file: what is in the merged log has its own place, too. */
export async function addSnapshotLogs(context: BundleContext, absent: readonly MemberReport[]): Promise<void> {
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
  const asOf = typeof report?.asOfMs === 'number' ? new Date(report.asOfMs).toISOString() : 'an unknown time';
  const why = report?.detail ?? report?.outcome ?? 'it did not respond';
  for (const [file, lines] of linesByFile) {
    const name = names.take(['logs', id, isPackedName(file) ? plainName(file) : file]);
    const problems = [`only the records of its snapshot as of ${asOf}: ${why}`];
    await writer.add(name, chunked(lines), { node: id, file, isCut: true, problems });
  }
}

/** A snapshot is bounded, so its records are held at once. */
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
