import { type ClusterFollowItem, type ClusterRecord, exactJson, formatBytes, reportText } from '@porthole/contract';
import type { FollowQuery, Zone } from '@porthole/logs';
import { EXIT, ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import type { RecordStyle } from '../output/format-record.ts';
import { visibleText } from '../output/visible-text.ts';
import { type LogSource, type PrintableRecord, withoutNode } from '../sources/log-source.ts';
import { Receipt } from './receipt.ts';
import { recordFilter } from './record-flags.ts';
import { RecordPrinter } from './record-printer.ts';

export interface FollowOptions {
  sources: readonly LogSource[];
  zone: Zone;
  style: RecordStyle;
  signal: AbortSignal;
  /** Number of past records to print first. */
  tail: number;
  /** Requested with each record. */
  fields: readonly string[];
}

/** Nodes reject a follow that starts further back. */
const MAX_BACK = 10_000;

/** Prints new records until interrupted; other events go to stderr. */
export async function follow(invocation: Invocation, options: FollowOptions): Promise<number> {
  rejectUnsupportedFlags(invocation);
  const { sources, signal } = options;
  const others = new AbortController();
  const stop = AbortSignal.any([signal, others.signal]);
  try {
    await Promise.all(sources.map((source) => followOne(invocation, { ...options, source, signal: stop })));
  } catch (error) {
    others.abort();
    if (!signal.aborted) throw error;
  }
  signal.throwIfAborted();
  return EXIT.ok;
}

function rejectUnsupportedFlags(invocation: Invocation): void {
  for (const flag of ['store', 'until', 'context', 'before-context', 'after-context'])
    if (invocation.text(flag) !== undefined) throw new ProgramError(`--${flag} cannot be combined with --follow`);
}

async function followOne(
  invocation: Invocation,
  { source, zone, style, signal, tail, fields }: FollowOptions & { source: LogSource },
): Promise<void> {
  const { fromMs, ...filter } = recordFilter(invocation, source, zone);
  const raw = style.format === 'raw';
  const cursor = invocation.text('cursor');
  const start = cursor !== undefined ? { cursor } : fromMs !== undefined ? { timeMs: fromMs } : startFromTail(tail);
  const query = {
    ...source.selection,
    ...filter,
    start,
    ...(raw && { raw }),
    ...(fields.length > 0 && { fields }),
  };
  const receipt = new Receipt();
  const printer = new RecordPrinter(invocation.terminal, { style, hasContext: false, signal, receipt });
  for await (const items of source.state.follow(query, { signal })) {
    let records: PrintableRecord[] = [];
    const flush = async () => {
      await printer.print(records.map((record) => ({ source, record })));
      records = [];
    };
    for (const item of items) {
      if (item.type === 'record') {
        records.push(item);
        continue;
      }
      await flush();
      await printEvent(item);
    }
    await flush();
  }

  async function printEvent(item: FollowEvent): Promise<void> {
    const isNamed = source.nodes !== undefined && 'node' in item;
    if (style.format === 'json') await invocation.terminal.write(`${exactJson(isNamed ? item : withoutNode(item))}\n`);
    else if (item.type !== 'end') invocation.terminal.note(visibleText(explainItem(item, { isNamed })));
  }
}

function startFromTail(tail: number): FollowQuery['start'] {
  if (tail === 0) return 'end';
  return tail === Number.POSITIVE_INFINITY ? { timeMs: 0 } : { back: Math.min(tail, MAX_BACK) };
}

/** What a follow emits besides records. */
type FollowEvent = Exclude<ClusterFollowItem, ClusterRecord>;

/** Describes an event of a follow, with its node in front where nodes were asked for. */
export function explainItem(item: FollowEvent, { isNamed }: { isNamed: boolean }): string {
  if (item.type === 'member') return explainMember(item);
  return isNamed && 'node' in item ? `${item.node}: ${explainEvent(item)}` : explainEvent(item);
}

function explainMember({ node, report }: Extract<FollowEvent, { type: 'member' }>): string {
  if (report.outcome === 'ok') return `following ${node}`;
  // A departed member is followed again only if it registers again.
  const hasDeparted = report.outcome === 'gone' || report.outcome === 'left';
  return hasDeparted ? reportText(report) : `${reportText(report)}; retrying`;
}

function explainEvent(item: Exclude<FollowEvent, { type: 'member' }>): string {
  switch (item.type) {
    case 'rotated':
      return `${item.family} was rotated to ${item.from}`;
    case 'truncated':
      return `${item.file} was truncated${item.lostBytes === null ? '' : `, ${formatBytes(item.lostBytes)} lost`}; reading from the start`;
    case 'gap':
      return explainGap(item);
    case 'behind':
      return item.behindBytes > 0 ? `${formatBytes(item.behindBytes)} behind what is written` : 'caught up';
    case 'missing':
      return `${item.family} does not exist; waiting for it`;
    case 'reconnecting':
      return `${item.reason}; retrying in ${(item.waitMs / 1000).toFixed(1)} s`;
    case 'skipped':
      return item.detail;
    case 'position':
    case 'text':
      return 'all records so far were shown';
    case 'end':
      return item.reason === 'stopping' ? 'the node is stopping' : 'ended';
  }
}

const GAP_REASONS = {
  slow: 'this reader was too slow',
  truncated: 'the file was truncated',
  gone: 'a file was removed before it could be read',
} as const;

function explainGap({ family, reason, bytes }: Extract<FollowEvent, { type: 'gap' }>): string {
  const log = family === '' ? 'the logs' : family;
  const amount = bytes === null ? 'records' : `up to ${formatBytes(bytes)}`;
  return `${amount} of ${log} may be missing here: ${GAP_REASONS[reason]}`;
}
