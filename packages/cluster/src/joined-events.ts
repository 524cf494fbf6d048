import {
  type ClusterEnd,
  type ClusterFollowItem,
  type ClusterRecord,
  type EventKind,
  kindsQuery,
  type MemberSelection,
  type NodeEvent,
  pickMembers,
  type SearchOptions,
  toEvent,
  withoutSelection,
} from '@porthole/contract';
import type { QueryNode, SearchQuery } from '@porthole/logs/types';
import { batchOf, isBatch, type RecordBatch, recordsOf } from '@porthole/records';

/*
 * One event for what several nodes report: each node that sees a loss writes it, and the lost one writes that it was killed
 * when it is back. Reports belong together if they are about the same run of a member and may be about the same time. Of
 * each group one report is shown, at its own place in the order; which one does not depend on where a page begins, so pages,
 * cursors and time ranges are those of the records below.
 */

/** Other reports of an event are looked for so long before and after it. */
const WINDOW_MS = 600_000;

/** What clocks may differ by, although they are corrected. */
const CLOCK_MS = 3000;

/** A node says that it stops, and has stopped when its responses have ended. */
const STOPPING_MS = 15_000;

/** Runs that one query asks for, reports that it returns, and queries for one page: more is what nobody reads. */
const RUNS_AT_ONCE = 100;
const MAX_REPORTS = 5000;
const MAX_ROUNDS = 20;

/** Nodes that are named; the rest would not be read. */
const MAX_SEEN_BY = 20;

/** Reports that a follow remembers. */
const MAX_REMEMBERED = 1000;

/** The end or the beginning of a run, as others and the node itself report it; the first of a group is shown. */
const PARTS = [
  ['member-left', 'stopped', 'member-lost', 'killed'],
  ['member-back', 'member-joined'],
] as const satisfies readonly EventKind[][];

type Search = (
  request: SearchQuery & MemberSelection,
  options?: SearchOptions,
) => AsyncIterable<RecordBatch | ClusterEnd>;

/** An event about a run of a member. Times are by the clock of this node. */
interface Report {
  record: ClusterRecord;
  event: NodeEvent;
  key: string;
  run: number;
  /** When it happened: not before, and not after. */
  fromMs: number;
  toMs: number;
  /** When the run was seen alive before it ended. */
  signMs: number | undefined;
}

/** The events of a cluster, those that are about the same thing as one. */
export async function* joinEvents(
  search: Search,
  request: SearchQuery & MemberSelection,
  options?: SearchOptions,
): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
  const known = new RelatedReports(search, request, options);
  let [left, asked] = [request.limit, request];
  let total: ClusterEnd | undefined;
  for (let round = 0; ; round++) {
    let found = 0;
    let end: ClusterEnd | undefined;
    for await (const item of search({ ...asked, limit: left }, options)) {
      if (!isBatch(item)) end = item;
      else {
        const shown = await known.join(item);
        found += item.ends.length;
        left -= shown.ends.length;
        yield shown;
      }
    }
    if (!end) return;
    total = total ? addEnds(total, end) : end;
    const isFull = left <= 0 || end.reason !== 'limit' || found === 0;
    if (isFull || end.cursor === null || round === MAX_ROUNDS) break;
    asked = { ...asked, start: { cursor: end.cursor } };
  }
  yield { ...total, records: request.limit - left };
}

/** What several searches that continue each other have read. */
function addEnds(before: ClusterEnd, end: ClusterEnd): ClusterEnd {
  const counts = new Map(before.members.map(({ id, count }) => [id, count]));
  return {
    ...end,
    scannedBytes: before.scannedBytes + end.scannedBytes,
    skippedBytes: before.skippedBytes + end.skippedBytes,
    elapsedMs: before.elapsedMs + end.elapsedMs,
    members: end.members.map((report) => ({ ...report, count: report.count + (counts.get(report.id) ?? 0) })),
  };
}

/** A follow emits the first report of each event; the others only say where their node stands. */
export function joinFollow(): (items: readonly ClusterFollowItem[]) => ClusterFollowItem[] {
  let emitted: Report[] = [];
  return (items) =>
    items.map((item): ClusterFollowItem => {
      const report = item.type === 'record' ? readReport(item) : undefined;
      if (!report) return item;
      const same = groupReports([...emitted.filter(({ key }) => key === report.key), report]);
      const isKnown = same.some((group) => group.length > 1 && group.includes(report));
      emitted = [...emitted, report].slice(-MAX_REMEMBERED);
      return isKnown ? { type: 'position', node: report.record.node, cursor: report.record.cursor } : report.record;
    });
}

/** The reports of all members about what a page contains. */
class RelatedReports {
  readonly #search: Search;
  readonly #request: SearchQuery & MemberSelection;
  readonly #options: SearchOptions | undefined;

  constructor(search: Search, request: SearchQuery & MemberSelection, options: SearchOptions | undefined) {
    this.#search = search;
    this.#request = request;
    this.#options = options;
  }

  async join(batch: RecordBatch): Promise<RecordBatch> {
    const records = recordsOf<ClusterRecord>(batch);
    const reports = records.map(readReport);
    const given = reports.filter((report) => report !== undefined);
    if (given.length === 0) return batch;
    const shown = await this.#shown(given);
    return batchOf(
      records.flatMap((record, index) => {
        if (!reports[index]) return [record];
        const joined = shown.get(idOf(record));
        return joined ? [joined] : [];
      }),
    );
  }

  /** What is shown of these reports, by their ids: that which stands for its group. */
  async #shown(given: readonly Report[]): Promise<Map<string, ClusterRecord>> {
    const { order: _order, limit: _limit, start: _start, until: _until, ...rest } = this.#request;
    const { fromMs: _fromMs, toMs: _toMs, ...filter } = rest;
    const { query, before: _before, after: _after, ...own } = withoutSelection(filter);
    const isFiltered = Object.keys(own).length > 0 || (query && JSON.stringify(query) !== ANY_KIND);
    const [all, matching] = await Promise.all([
      this.#reports(given, { before: 0, after: 0, ...pickMembers(filter) }),
      isFiltered ? this.#reports(given, filter) : undefined,
    ]);
    // What was found is always there, also if its node has failed since.
    for (const report of given) all.set(idOf(report.record), report);
    const isMatch = ({ record }: Report) => !matching || matching.has(idOf(record));
    const ids = new Set(given.map(({ record }) => idOf(record)));
    const shown = new Map<string, ClusterRecord>();
    for (const group of groupReports([...all.values()])) {
      const candidates = group.filter((report) => ids.has(idOf(report.record)) || isMatch(report));
      const first = representative(candidates, group);
      if (first) shown.set(idOf(first.record), describeGroup(first, group));
    }
    return shown;
  }

  async #reports(given: readonly Report[], filter: Omit<SearchQuery & MemberSelection, 'order' | 'limit'>) {
    const runs = [...new Set(given.map(({ run }) => run))];
    const fromMs = Math.min(...given.map((report) => report.fromMs)) - WINDOW_MS;
    const toMs = Math.max(...given.map((report) => report.toMs)) + WINDOW_MS;
    const found = new Map<string, Report>();
    for (let at = 0; at < runs.length; at += RUNS_AT_ONCE) {
      const nodes = runs
        .slice(at, at + RUNS_AT_ONCE)
        .map((run): QueryNode => ({ kind: 'field', field: 'run', operator: '=', value: String(run) }));
      const about: QueryNode = nodes.length === 1 ? (nodes[0] as QueryNode) : { kind: 'or', nodes };
      const query: QueryNode = filter.query ? { kind: 'and', nodes: [filter.query, about] } : about;
      const request = { ...filter, query, fromMs, toMs, order: 'oldest', limit: MAX_REPORTS } as const;
      for await (const item of this.#search(request, this.#options))
        for (const record of isBatch(item) ? recordsOf<ClusterRecord>(item) : []) {
          const report = readReport(record);
          if (report) found.set(idOf(record), report);
        }
    }
    return found;
  }
}

const ANY_KIND = JSON.stringify(kindsQuery());

function idOf({ node, cursor }: ClusterRecord): string {
  return `${node} ${cursor}`;
}

/** `undefined`: it is not about a run of a member. Members are not trusted. */
function readReport(record: ClusterRecord): Report | undefined {
  const event = toEvent(record);
  const part = PARTS.findIndex((kinds) => (kinds as readonly string[]).includes(event?.kind ?? ''));
  if (!event || part < 0) return undefined;
  const { member = record.node, run, lastSignMs, uncertaintyMs } = event.fields;
  if (typeof member !== 'string' || typeof run !== 'number') return undefined;
  const atMs = record.atMs ?? event.timeMs;
  const seenMs = typeof lastSignMs === 'number' ? Math.min(lastSignMs + atMs - event.timeMs, atMs) : undefined;
  const isKilled = event.kind === 'killed';
  const toMs = isKilled && typeof uncertaintyMs === 'number' ? atMs + uncertaintyMs : atMs;
  const signMs = isKilled ? atMs : part === 0 ? seenMs : undefined;
  return { record, event, key: `${part} ${member} ${run}`, run, fromMs: seenMs ?? atMs, toMs, signMs };
}

/** Reports of the same part of the same run whose intervals overlap, as far as clocks show. */
function groupReports(reports: readonly Report[]): Report[][] {
  const sorted = reports.toSorted((a, b) => a.toMs - b.toMs || (a.record.node < b.record.node ? -1 : 1));
  const groups: Report[][] = [];
  const last = new Map<string, { group: Report[]; toMs: number }>();
  for (const report of sorted) {
    const open = last.get(report.key);
    const isRepeatable = [report, ...(open?.group ?? [])].every(({ event: { kind } }) => REPEATED.has(kind));
    if (open && report.fromMs <= open.toMs + (isRepeatable ? CLOCK_MS : STOPPING_MS)) {
      open.group.push(report);
      open.toMs = Math.max(open.toMs, report.toMs);
      continue;
    }
    const group = [report];
    groups.push(group);
    last.set(report.key, { group, toMs: report.toMs });
  }
  return groups;
}

/** A run ends once, but is lost and back as often as it was suspended. */
const REPEATED: ReadonlySet<EventKind> = new Set(['member-lost', 'member-back']);

/** The report that is shown: the first that is not before a sign of life which another node has seen. */
function representative(candidates: readonly Report[], group: readonly Report[]): Report | undefined {
  const kinds = PARTS.flat().filter((kind) => candidates.some(({ event }) => event.kind === kind));
  const ofKind = candidates.filter(({ event }) => event.kind === kinds[0]);
  const { lastSignMs } = agreedLoss(group);
  return ofKind.find(({ toMs }) => toMs >= lastSignMs) ?? ofKind.at(-1);
}

/** The interval that all reports of a loss agree on. */
function agreedLoss(group: readonly Report[]): { lastSignMs: number; firstFailureMs: number } {
  const lastSignMs = Math.max(...group.flatMap(({ signMs }) => signMs ?? []));
  const failures = group.filter(({ event }) => event.kind === 'member-lost').map(({ toMs }) => toMs);
  const after = failures.filter((failureMs) => failureMs >= lastSignMs);
  const firstFailureMs = after.length > 0 ? Math.min(...after) : Math.max(...failures);
  return { lastSignMs: Math.min(lastSignMs, firstFailureMs), firstFailureMs };
}

/** The report that is shown, with what the others add. */
function describeGroup({ record, event }: Report, group: readonly Report[]): ClusterRecord {
  const observers = group.filter((report) => report.event.kind.startsWith('member-'));
  const seenBy = [...new Set(observers.map((report) => report.record.node))].slice(0, MAX_SEEN_BY);
  const own = group.find(({ event: { kind } }) => kind === 'killed' || kind === 'stopped');
  const isOwn = own?.record === record;
  const loss = event.kind === 'member-lost' && agreedLoss(group);
  const interval = loss && { ...loss, uncertaintyMs: loss.firstFailureMs - loss.lastSignMs };
  const reported = own && !isOwn && { reported: own.event.kind, ...pick(own.event.fields, ['pid', 'isReboot']) };
  const context = { ...record.context, ...interval, ...reported, ...(seenBy.length > 0 && { seenBy }) };
  const ownMessage = reported ? `; ${own.event.message}` : '';
  const seen = seenBy.length > 1 || isOwn ? ` (seen by ${seenBy.join(', ')})` : '';
  const { contextText: _text, ...rest } = record;
  return { ...rest, message: `${event.message}${ownMessage}${seenBy.length > 0 ? seen : ''}`, context };
}

function pick(fields: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])));
}
