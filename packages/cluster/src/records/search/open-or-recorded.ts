import { codeOf, type MemberReport } from '@porthole/contract';
import { unneeded } from '@porthole/logs/shared';
import { isBatch } from '@porthole/records';
import type { RecordedMember } from '../../recorder/recordings.ts';
import { withDeadline } from '../../requests/bounded-calls.ts';
import { toOutcome } from '../../requests/member-failure.ts';
import { type ChosenMember, departedReport, recordedReport } from '../../state/query-members.ts';
import type { RecordedReport } from '../merge/member-lane.ts';
import type { LaneItem } from '../merge/member-pages.ts';
import { type ClusterDeps, getLimits } from './cluster-deps.ts';

/** Outcomes for which what was recorded is used: a member that responds, even with an error, is not replaced. */
const SILENT: ReadonlySet<MemberReport['outcome']> = new Set<MemberReport['outcome']>(['refused', 'timeout', 'tls']);

/** Fraction of the first-record timeout to wait for a member that is recorded. */
const RECORDED_SHARE = 0.75;

export interface OpenOptions {
  /** How long the member may scan once it has accepted the request. */
  budgetMs: number;
  search(signal: AbortSignal): AsyncIterable<LaneItem>;
  searchRecorded(recorded: RecordedMember, signal: AbortSignal): AsyncIterable<LaneItem>;
}

export interface Opened {
  open(signal: AbortSignal): AsyncIterable<LaneItem>;
  /** Report fields once what was recorded was used. */
  instead?: () => RecordedReport | undefined;
}

/** Opens the records of a member, or what was recorded of it if it has departed or does not respond. */
export function openOrRecorded(deps: ClusterDeps, { member, departed }: ChosenMember, options: OpenOptions): Opened {
  if (departed) {
    const instead = insteadOf(departedReport(departed, 0), departed);
    return { open: (signal) => options.searchRecorded(departed, signal), instead: () => instead };
  }
  if (!deps.directory.has(member.id)) return { open: options.search };
  let instead: RecordedReport | undefined;
  const timeoutMs = getLimits(deps).firstBatchMs * RECORDED_SHARE;
  const open = (signal: AbortSignal) => {
    const onSilence = async (failure: Pick<MemberReport, 'outcome' | 'detail'>) => {
      const recorded = await deps.directory.find(member.id);
      // A configuration that is known of it does not stand for its records.
      if (!recorded || recorded.recordedBy === null) return undefined;
      const report = { id: member.id, elapsedMs: 0, count: 0, asOfMs: null, ...failure };
      instead = insteadOf(recordedReport(report, recorded), recorded);
      return options.searchRecorded(recorded, signal);
    };
    const isAlive = () => member.isSelf || deps.directory.isAlive(member.id);
    return readOrRecorded(options.search, { timeoutMs, budgetMs: options.budgetMs, signal, isAlive, onSilence });
  };
  return { open, instead: () => instead };
}

function insteadOf(
  { outcome, detail, asOfMs, recordedBy, missingMs, isPartial }: MemberReport,
  recorded: RecordedMember,
) {
  return {
    ...{ outcome, detail, asOfMs, recorded },
    ...(recordedBy !== undefined && { recordedBy }),
    ...(missingMs !== undefined && { missingMs }),
    ...(isPartial && { isPartial }),
  };
}

interface SilentOptions extends FirstOptions {
  /** Opens what was recorded; `undefined` if there is nothing. */
  onSilence(failure: Pick<MemberReport, 'outcome' | 'detail'>): Promise<AsyncIterable<LaneItem> | undefined>;
}

async function* readOrRecorded(
  search: OpenOptions['search'],
  { onSilence, ...options }: SilentOptions,
): AsyncGenerator<LaneItem, void, undefined> {
  let hasRecords = false;
  try {
    for await (const item of readUnlessSilent(search, options)) {
      hasRecords ||= !isEmpty(item);
      yield item;
    }
  } catch (error) {
    const { outcome, detail } = toOutcome(error);
    if (hasRecords || options.signal.aborted || !SILENT.has(outcome)) throw error;
    const fallback = await onSilence({ outcome, detail });
    if (!fallback) throw error;
    yield* fallback;
  }
}

interface FirstOptions {
  /** Timeout until it accepts the request. */
  timeoutMs: number;
  /** Until its first records: this much longer. */
  budgetMs: number;
  signal: AbortSignal;
  /** Whether it is there: then it is waited for as long as its lane is. */
  isAlive(): boolean;
}

/** The batches of a search, unless the first records take too long: an empty batch only says that it was accepted. */
async function* readUnlessSilent(
  search: (signal: AbortSignal) => AsyncIterable<LaneItem>,
  { timeoutMs, budgetMs, signal, isAlive }: FirstOptions,
): AsyncGenerator<LaneItem, void, undefined> {
  const leaving = new AbortController();
  const leave = () => leaving.abort(signal.reason);
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  const batches = search(leaving.signal)[Symbol.asyncIterator]();
  const nextWithin = async (ms: number) => {
    const reading = batches.next();
    let hasSettled = false;
    const onSettled = () => {
      hasSettled = true;
    };
    reading.then(onSettled, onSettled);
    for (;;) {
      try {
        return await withDeadline(() => reading, { timeoutMs: ms, signal });
      } catch (error) {
        // The deadline here, not one of the request itself, which has ended then.
        const isOurs = codeOf(error) === 'DEADLINE_EXCEEDED' && !hasSettled;
        if (isOurs && !signal.aborted && isAlive()) continue;
        leaving.abort(error); // `return` alone would wait behind the read that is stuck
        throw error;
      }
    }
  };
  try {
    let next = await nextWithin(timeoutMs);
    while (!next.done && isEmpty(next.value)) {
      yield next.value;
      next = await nextWithin(timeoutMs + budgetMs);
    }
    for (; !next.done; next = await batches.next()) yield next.value;
  } finally {
    signal.removeEventListener('abort', leave);
    void unneeded(batches.return?.()); // not awaited: it may take long, and its result no longer matters
  }
}

function isEmpty(item: LaneItem): boolean {
  return isBatch(item) && item.ends.length === 0;
}
