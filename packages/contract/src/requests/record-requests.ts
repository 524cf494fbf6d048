import { LogSources } from '@porthole/logs/query';
import type {
  DigestQuery,
  FollowQuery,
  QueryNode,
  RecordFilter,
  SearchQuery,
  StartPoint,
  TopQuery,
} from '@porthole/logs/types';
import { PortholeError } from '../errors/errors.ts';
import { asksCluster, type MemberSelection, selectsMembers } from '../member.ts';
import type { CountId, CountQueries, FileRequest, SearchOptions, ViewRequest } from '../node-state.ts';
import { optionalValue, type Query } from '../params/codecs.ts';
import { decodeFollowPositions } from '../params/follow-positions.ts';
import { CONFIG_ROWS, FILE_ROWS, FILTER_ROWS, LOG_FILES_ROWS, MAX_TERMS, VIEW_ROWS } from '../params/log-parameters.ts';
import {
  encodeParameters,
  type ParameterRow,
  type ParameterValues,
  type ParseOptions,
  parseParameters,
  quotedName,
} from '../params/parameter.ts';
import {
  BUDGET_ROW,
  DIGEST_ROWS,
  EXPLAIN_ROW,
  FIELDS_ROWS,
  FOLLOW_ROWS,
  HISTOGRAM_ROWS,
  MAX_GIVEN_VALUES,
  RESUME_OVERLAP_MS,
  SEARCH_ROWS,
  TOP_ROWS,
} from '../params/record-parameters.ts';
import { quoteInput } from '../quote.ts';
import { type RequestClock, rangeProblem } from '../time/time-text.ts';

/*
 * Requests about records: loose parameters in, strict requests out, and back. Each parameter by itself is read and
 * written by its row of the table; here are the rules between parameters.
 */

export interface SearchLimits {
  /** The setting `search.max-records`. */
  maxRecords: number;
}

/** A request whose query may be its text. */
export type WithQueryText<Request extends RecordFilter> = Omit<Request, 'query'> & { query?: QueryNode | string };

type Budget = Pick<SearchOptions, 'budgetMs'>;

/** A search of the receiving node alone, or of the nodes that are selected. */
export type SearchRequest = SearchQuery & MemberSelection;

export type FollowRequest = FollowQuery & MemberSelection;

/** The conditions alone. What is not given is absent. */
export function parseRecordFilter(query: Query, options: ParseOptions): RecordFilter {
  return parseConditions(FILTER_ROWS, query, options);
}

/** The conditions alone. */
export function encodeFilter(filter: WithQueryText<RecordFilter>): URLSearchParams {
  return encodeParameters(FILTER_ROWS, filter);
}

/** Of several nodes, it starts at the cursor of the end of an earlier response, or at a time. */
export function parseSearchRequest(query: Query, clock: RequestClock, { maxRecords }: SearchLimits): SearchRequest {
  const values = parseConditions(SEARCH_ROWS, query, { clock, maxRecords });
  if (asksCluster(values)) {
    for (const name of ['record', 'offset', 'until'])
      rejectSingleNodeParameter(query, name, 'start at a "time" or a "cursor"');
  }
  if (values.offset !== undefined && new LogSources(values.src).only?.kind !== 'file')
    throw new PortholeError('PARAMETER_INVALID', '"offset" is a position in one file: select it by "src==FILE"');
  return toSearchQuery(values, maxRecords);
}

/** What is left out has the default of the node, here and below. */
export function encodeSearch(
  query: WithQueryText<Partial<SearchQuery>> & MemberSelection,
  budget: Budget = {},
): URLSearchParams {
  return encodeParameters([...SEARCH_ROWS, BUDGET_ROW], { ...query, ...query.start, ...budget });
}

/**
 * `lastEventId` is the id of the last event that a reconnecting client saw: the follow resumes there, whatever the parameters
 * say. Of one node it is a cursor, beside which only a time still counts, for logs that it does not name; of several it is
 * the time of the record.
 */
export function parseFollowRequest(query: Query, clock: RequestClock, lastEventId?: string): FollowRequest {
  rejectStore(query, 'a follow reads what members write from now on');
  const { back, timeMs, cursor, positions, ...rest } = parseConditions(FOLLOW_ROWS, query, { clock });
  if (!selectsMembers(rest)) {
    if (positions !== undefined)
      throw new PortholeError('PARAMETER_INVALID', '"positions" are those of several nodes: give "nodes", too');
    const start = toFollowStart({ back, timeMs, cursor });
    return { ...rest, start: lastEventId ? resumeAfter(lastEventId, timeMs) : start };
  }
  rejectSingleNodeParameter(query, 'cursor', 'start at a "time" or at "positions"');
  const start = toFollowStart({ back, timeMs });
  if (positions !== undefined) {
    decodeFollowPositions(positions);
    return { ...rest, start: resumeAfter(positions, timeMs) };
  }
  return { ...rest, start: lastEventId ? { timeMs: resumeTime(lastEventId) } : start };
}

/** Where several nodes are followed, the cursor of the start are their positions. */
export function encodeFollow(query: WithQueryText<FollowQuery> & MemberSelection): URLSearchParams {
  const { cursor, ...start } = fromFollowStart(query.start);
  const position = selectsMembers(query) ? { positions: cursor } : { cursor };
  return encodeParameters(FOLLOW_ROWS, { ...query, ...start, ...position });
}

/** The parameters of each request that counts records. */
export const COUNT_ROWS = {
  logHistogram: HISTOGRAM_ROWS,
  logDigest: DIGEST_ROWS,
  logFields: FIELDS_ROWS,
  logTop: TOP_ROWS,
} as const satisfies Record<CountId, readonly ParameterRow[]>;

/** A request for a count as clients write it. */
export type CountRequest<Id extends CountId> = Omit<Partial<CountQueries[Id]>, 'query'> &
  MemberSelection & { query?: QueryNode | string };

export function parseCount<Id extends CountId>(
  id: Id,
  query: Query,
  clock: RequestClock,
): CountQueries[Id] & MemberSelection {
  return checkCount(id, parseConditions(COUNT_ROWS[id], query, { clock }));
}

export function encodeCount<Id extends CountId>(id: Id, query: CountRequest<Id>, budget: Budget = {}): URLSearchParams {
  return encodeParameters([...COUNT_ROWS[id], BUDGET_ROW], { ...query, ...budget });
}

/** The rules between the parameters of one count. */
function checkCount<Id extends CountId>(id: Id, values: object): CountQueries[Id] & MemberSelection {
  if (id === 'logTop') checkTop(values);
  if (id === 'logDigest') checkDigest(values);
  return values as CountQueries[Id];
}

/** `undefined`: an empty query, which matches every record. */
export function parseExplainRequest(query: Query): QueryNode | undefined {
  return parseParameters([EXPLAIN_ROW], query).query;
}

/** How long the client wants to wait at most; the limit of the node applies too. */
export function parseBudget(query: Query, { mostMs }: { mostMs: number }): number {
  const { budgetMs = mostMs } = parseParameters([BUDGET_ROW], query);
  return Math.min(budgetMs, mostMs);
}

/** Silently ignored, it would seem to have an effect. */
function rejectSingleNodeParameter(query: Query, name: string, instead: string): void {
  if (optionalValue(query, name) === undefined) return;
  const message = `"${name}" is a position in the logs of one node, but several are asked: ${instead}`;
  throw new PortholeError('PARAMETER_INVALID', message);
}

function resumeTime(lastEventId: string): number {
  if (!/^-?\d{1,16}$/.test(lastEventId))
    throw new PortholeError('CURSOR_INVALID', '"Last-Event-ID" is not the id of an event of this request');
  return Number(lastEventId) - RESUME_OVERLAP_MS;
}

/** For requests that read no archive: without what it has, their response would look complete. */
export function rejectStore(query: Query, reason: string): void {
  const store = optionalValue(query, 'store');
  if (store === undefined || store === 'nodes') return;
  throw new PortholeError('PARAMETER_INVALID', `"store" cannot be ${quoteInput(store)} here: ${reason}`);
}

/** The parameters, with the rules that hold between those of every request about records. */
export function parseConditions<const Rows extends readonly ParameterRow[]>(
  rows: Rows,
  query: Query,
  options: ParseOptions,
): ParameterValues<Rows> {
  const values = parseParameters(rows, query, options);
  const conditions = values as RecordFilter;
  const label = (name: string) => {
    const row = rows.find((each) => each.name === name);
    return row === undefined ? name : (options.label ?? quotedName)(row);
  };
  const problem = rangeProblem(
    { name: label('from'), timeMs: conditions.fromMs },
    { name: label('to'), timeMs: conditions.toMs },
  );
  if (problem !== undefined) throw new PortholeError('PARAMETER_INVALID', problem);
  const count = (conditions.terms?.length ?? 0) + (conditions.excluded?.length ?? 0);
  if (count > MAX_TERMS)
    throw new PortholeError(
      'PARAMETER_INVALID',
      `${label('q')} and ${label('not')} are given ${count} times; at most ${MAX_TERMS} are allowed`,
    );
  return values;
}

/** The field whose values are counted is required, and not too many values are counted alone. */
function checkTop({ by, values = [] }: Partial<TopQuery>): void {
  if (by === undefined)
    throw new PortholeError('PARAMETER_INVALID', '"by" is missing: give the name of the field to count by');
  if (values.length > MAX_GIVEN_VALUES)
    throw new PortholeError(
      'PARAMETER_INVALID',
      `"value" is given ${values.length} times; at most ${MAX_GIVEN_VALUES} are allowed`,
    );
}

interface StartValues {
  limit: number;
  cursor?: string;
  record?: string;
  timeMs?: number;
  offset?: number;
}

/** The parsed values with the one start that is given. */
function toSearchQuery<Values extends StartValues>(values: Values, maxRecords: number) {
  const { cursor, record, timeMs, offset, limit, ...rest } = values;
  const starts: StartPoint[] = [
    ...(cursor === undefined ? [] : [{ cursor }]),
    ...(record === undefined ? [] : [{ record }]),
    ...(timeMs === undefined ? [] : [{ timeMs }]),
    ...(offset === undefined ? [] : [{ offset }]),
  ];
  const [start] = starts;
  if (starts.length > 1)
    throw new PortholeError('PARAMETER_INVALID', 'give one of "cursor", "record", "time" and "offset", not several');
  return { ...rest, limit: Math.min(limit, maxRecords), ...(start && { start }) };
}

interface FollowStartValues {
  back?: number | undefined;
  timeMs?: number | undefined;
  cursor?: string | undefined;
}

function toFollowStart({ back, timeMs, cursor }: FollowStartValues): FollowQuery['start'] {
  if (back !== undefined && (cursor !== undefined || timeMs !== undefined))
    throw new PortholeError(
      'PARAMETER_INVALID',
      'give one of "back", "time" and "cursor", not several; only "time" and "cursor" go together',
    );
  if (cursor !== undefined) return resumeAfter(cursor, timeMs);
  if (timeMs !== undefined) return { timeMs };
  return back === undefined ? 'end' : { back };
}

function resumeAfter(cursor: string, sinceMs: number | undefined): FollowQuery['start'] {
  return { cursor, ...(sinceMs !== undefined && { sinceMs }) };
}

function fromFollowStart(start: FollowQuery['start']): FollowStartValues {
  if (start === 'end') return {};
  return 'cursor' in start ? { cursor: start.cursor, timeMs: start.sinceMs } : start;
}

function checkDigest({ onlyNew, newSinceMs }: Partial<DigestQuery>): void {
  if (onlyNew && newSinceMs === undefined) throw new PortholeError('PARAMETER_INVALID', '"onlyNew" needs "newSince"');
}

export function parseFileRequest(query: Query): FileRequest {
  const { file, ...rest } = parseParameters(FILE_ROWS, query);
  return { file: requireFile(file), ...rest };
}

export function parseViewRequest(query: Query): ViewRequest {
  const { file, sizeBytes } = parseParameters(VIEW_ROWS, query);
  return { file: requireFile(file), sizeBytes };
}

export function encodeFile(request: FileRequest): URLSearchParams {
  return encodeParameters(FILE_ROWS, request);
}

/** Without a size, the default of the node applies. */
export function encodeView(request: FileRequest & Partial<ViewRequest>): URLSearchParams {
  return encodeParameters(VIEW_ROWS, request);
}

export function parseLogFilesRequest(query: Query): MemberSelection {
  return parseParameters(LOG_FILES_ROWS, query);
}

export function parseConfigRequest(query: Query): { format: 'toml' | 'source' } {
  return parseParameters(CONFIG_ROWS, query);
}

export function encodeConfig(request: { format?: 'toml' | 'source' | undefined }): URLSearchParams {
  return encodeParameters(CONFIG_ROWS, request);
}

function requireFile(file: string | undefined): string {
  if (file === undefined) throw new PortholeError('FILE_NAME_MISSING', 'give the name of a log file: ?file=NAME');
  return file;
}
