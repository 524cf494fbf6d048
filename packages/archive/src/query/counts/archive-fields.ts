import { type ClusterFields, type MemberSelection, mergeFields } from '@porthole/contract';
import { FieldTable } from '@porthole/logs';
import { recordFields } from '@porthole/logs/query';
import type { FieldsQuery } from '@porthole/logs/types';
import { quoteInteger } from '../../clickhouse/quote.ts';
import { type ArchiveOptions, type PreparedQuery, prepareQuery, type QueryDeps } from '../prepare-query.ts';
import { NodeTally } from '../reports.ts';
import { countWindows, matchingRows } from '../windows.ts';

/**
 * About this much of a range with more text is examined: every record is parsed completely, in this thread. It is some
 * 8,000 records, of which a field that one in a thousand has is missed once in 3,000 times.
 */
const MAX_SAMPLE_BYTES = 1024 ** 2;

/** Maximum fields of a node. */
const MAX_FIELDS = 1000;

/** The fields of archived records; of many, those of an even sample. */
export async function archiveFields(
  deps: QueryDeps,
  request: FieldsQuery & MemberSelection,
  options: ArchiveOptions = {},
): Promise<ClusterFields> {
  const prepared = await prepareQuery(deps, request, options);
  const every = await sampleEvery(prepared);
  const isChosen = every > 1 ? ` AND cityHash64(file_id, file_offset) % ${quoteInteger(every)} = 0` : '';
  const tally = new NodeTally();
  const tables = new Map<string, FieldTable>();
  const counted = await countWindows(prepared, options, async (isInside) => {
    for await (const rows of matchingRows(prepared, isInside + isChosen)) {
      for (const decoded of rows) {
        const { node } = decoded.row;
        const table = tables.get(node) ?? new FieldTable();
        tables.set(node, table);
        table.count(recordFields(decoded.record));
        tally.add(node);
        tally.note(decoded);
      }
    }
  });
  const sources = [...tables]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, table]) => {
      const { records } = table;
      const fields = table.summaries(MAX_FIELDS);
      return { id, fields: { fields, totalFields: table.totalFields(), records, isSample: every > 1 } };
    });
  return { ...mergeFields(sources, request), counted, members: tally.reports(prepared, counted) };
}

/** One of so many records is examined. Duplicates only make it a little more. */
async function sampleEvery({ run, anyTable, scope }: PreparedQuery): Promise<number> {
  const [sum] = await run.all<{ text_bytes: number }>(
    `SELECT sum(bytes) AS text_bytes FROM ${anyTable} WHERE ${scope}`,
  );
  return Math.max(1, Math.ceil((sum?.text_bytes ?? 0) / MAX_SAMPLE_BYTES));
}
