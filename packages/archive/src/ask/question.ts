import { isPattern, type MemberSelection, type SearchOptions } from '@porthole/contract';
import type { LogSelection, RecordFilter } from '@porthole/logs/types';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { ArchiveRun } from './archive-run.ts';
import { type ArchivedNode, fetchNodes, shippedRange } from './archived-nodes.ts';
import { IS_RECORD } from './row-columns.ts';
import { createRowFilter, type MatchRegex, type RowFilter } from './row-filter.ts';
import { type Ceilings, familyOf, scopeToSql, selectIds } from './scope.ts';
import { type Bounds, isExact, joined, noneOf } from './sql/bounds.ts';
import { filterToSql } from './sql/query-to-sql.ts';
import type { Window } from './windows.ts';

export interface AskDeps {
  /** Of the reader, which needs no right to write. */
  reader: ClickHouse;
  /** As SQL, with its database. */
  records: string;
  progress: string;
  cluster: string;
  isHidden: ((log: string) => boolean) | undefined;
  matchRegex: MatchRegex | undefined;
  nowMs(): number;
}

export interface ArchiveOptions extends SearchOptions {
  /** Only rows whose own time is below that of their node. Rows without a time are left out where there is one. */
  ceilings?: Ceilings;
  /** Exact ids, instead of those that the request selects. */
  ids?: readonly string[];
}

export type ArchiveRequest = LogSelection & RecordFilter & MemberSelection;

/** A request as SQL, and what it leaves to the engine. */
export interface Question {
  run: ArchiveRun;
  /** The table, each record once: the one shipped last. */
  table: string;
  /** The same without that: for what duplicates do not change. */
  anyTable: string;
  /** Rows that may match, without a window. */
  where: string;
  /** Rows that match, as far as SQL can say; `undefined`: none for certain. */
  decided: string | undefined;
  /** Rows that may match and are none of those; `undefined`: there are none. */
  undecided: string | undefined;
  /** Rows of the logs and nodes in the range, whatever they contain. */
  scope: string;
  /** Rows of the logs and nodes of any time. */
  logs: string;
  /** Decides what SQL has left open; `undefined`: nothing. */
  filter: RowFilter | undefined;
  /** The nodes that are asked for, as far as the archive knows them, by id. */
  nodes: readonly ArchivedNode[];
  range: Window;
  /** The times of what these nodes say they have shipped; `undefined`: nothing is known. */
  likely: Window | undefined;
  nowMs: number;
}

/** Rejects with REGEX_INVALID, REGEX_TOO_COMPLEX or ARCHIVE_UNAVAILABLE. */
export async function prepareQuestion(
  deps: AskDeps,
  request: ArchiveRequest,
  options: ArchiveOptions = {},
): Promise<Question> {
  const { file: _file, family: _family, nodes: _nodes, role: _role, labels: _labels, ...filter } = request;
  // Refuses an invalid regex before the archive is asked.
  const rowFilter = await createRowFilter(filter, deps.matchRegex);
  const bounds: Bounds = filterToSql(filter);
  const run = new ArchiveRun(deps.reader, options);
  const known = await fetchNodes(deps, run);
  const ids = options.ids ?? selectedIds(request, known);
  const logs = visibleLogs(request, known, deps.isHidden);
  const scope = scopeToSql(request, { cluster: deps.cluster, ids, logs, ceilings: options.ceilings });
  const { fromMs = -Infinity, toMs = Infinity } = request;
  const asked = known.filter(({ node }) => ids === undefined || ids.includes(node));
  return {
    run,
    table: `${deps.records} FINAL`,
    anyTable: deps.records,
    scope: joined('AND', [scope, IS_RECORD]),
    logs: joined('AND', [
      scopeToSql(logSelection(request), { cluster: deps.cluster, ids, logs, ceilings: undefined }),
      IS_RECORD,
    ]),
    where: joined('AND', [scope, IS_RECORD, bounds.may]),
    decided: bounds.must === '0' ? undefined : joined('AND', [scope, IS_RECORD, bounds.must]),
    undecided: isExact(bounds) ? undefined : joined('AND', [scope, IS_RECORD, bounds.may, noneOf(bounds).may]),
    filter: isExact(bounds) ? undefined : rowFilter,
    nodes: asked,
    likely: shippedRange(asked),
    range: { fromMs: Math.ceil(fromMs), toMs: Math.ceil(toMs) },
    nowMs: deps.nowMs(),
  };
}

function logSelection({ file, family }: LogSelection): LogSelection {
  return { ...(file !== undefined && { file }), ...(family !== undefined && { family }) };
}

/** `undefined`: all. Exact ids may be of nodes whose progress is not known. */
function selectedIds(request: MemberSelection, known: readonly ArchivedNode[]): readonly string[] | undefined {
  const { nodes, role, labels } = request;
  if (nodes === undefined && role === undefined && labels === undefined) return undefined;
  if (role === undefined && labels === undefined && nodes && !nodes.some(isPattern)) return nodes;
  return selectIds(request, known);
}

/**
 * The logs that may be shown; `undefined`: all. Which ones there are is known from their progress: rows of others are left
 * out, rather than shown by mistake.
 */
function visibleLogs(
  { family, file }: LogSelection,
  known: readonly ArchivedNode[],
  isHidden: ((log: string) => boolean) | undefined,
): readonly string[] | undefined {
  if (!isHidden) return undefined;
  const wanted = family ?? file;
  const logs = wanted === undefined ? known.flatMap((node) => node.logs.map(({ log }) => log)) : [familyOf(wanted)];
  return [...new Set(logs)].filter((log) => !isHidden(log));
}
