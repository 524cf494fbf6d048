import type { ClusterFollowItem } from '@porthole/client';
import { formatBytes } from '../../ui/format.ts';
import { recordRow } from '../model/row-buffer.ts';
import type { GapRange, Row } from '../model/workspace-state.ts';

type ItemOfType<Type extends ClusterFollowItem['type']> = Extract<ClusterFollowItem, { type: Type }>;

type MemberItem = ItemOfType<'member'>;

/** Members named in a row; the rest is a count. */
const MAX_NAMED = 3;

const GAP_REASONS: Readonly<Record<ItemOfType<'gap'>['reason'], string>> = {
  slow: 'the connection was too slow',
  truncated: 'the file was truncated while it was read',
  gone: 'the position is no longer in the log',
};

/** Turns the items of a follow stream into rows. */
export class FollowRows {
  #count = 0;

  /** Members that fail at the same time share one row. */
  toRows(items: readonly ClusterFollowItem[]): Row[] {
    const failed = items.filter((item) => item.type === 'member' && item.report.outcome !== 'ok') as MemberItem[];
    const hasMany = failed.length > 1;
    const rows = items
      .filter((item) => !(hasMany && failed.includes(item as MemberItem)))
      .map((item) => this.#toRow(item))
      .filter((row) => row !== undefined);
    return hasMany ? [...rows, this.event(null, failedText(failed), { isProblem: true })] : rows;
  }

  /** `undefined` for items that only report a status. */
  #toRow(item: ClusterFollowItem): Row | undefined {
    switch (item.type) {
      case 'record':
        return recordRow(item);
      case 'gap':
        return this.#toGapRow(item);
      case 'rotated':
        return this.event(item.node, `${item.from} was rotated: reading ${item.to}`);
      case 'truncated': {
        const lost = item.lostBytes === null ? '' : `, ${formatBytes(item.lostBytes)} not read`;
        return this.event(item.node, `${item.file} was truncated${lost}: reading it from its start`, {
          isProblem: true,
        });
      }
      case 'missing':
        return this.event(item.node, `${item.family} does not exist at the moment`, { isProblem: true });
      case 'member':
        if (item.report.outcome === 'ok') return this.event(item.node, 'is followed again');
        return this.event(item.node, `cannot be followed (${reportText(item)})`, { isProblem: true });
      case 'reconnecting':
        if (!('node' in item)) return undefined;
        return this.event(null, `Connection to ${item.node} lost · retrying`, { isProblem: true });
      case 'skipped':
        return this.event('node' in item ? item.node : null, item.detail, { isProblem: true });
      case 'end':
        return undefined;
    }
  }

  event(node: string | null, text: string, { isProblem = false } = {}): Row {
    return { kind: 'event', key: this.#newKey('event'), node, text, isProblem };
  }

  /** A row for missing records; without a range they cannot be loaded. */
  gap(text: string, range: GapRange | null): Row {
    return {
      kind: 'gap',
      key: this.#newKey('gap'),
      node: range?.node ?? null,
      text,
      canLoad: range !== null,
      isLoading: false,
      ...(range && { range }),
    };
  }

  #toGapRow({ node, family, reason, bytes, after, until }: ItemOfType<'gap'>): Row {
    const size = bytes === null ? 'Records' : formatBytes(bytes);
    const text = `${size} of ${family} not shown: ${GAP_REASONS[reason]}`;
    const range =
      after === null
        ? null
        : { node, after: { node, cursor: after }, until: until === null ? null : { node, cursor: until } };
    return { ...this.gap(text, range), node } as Row;
  }

  #newKey(kind: string): string {
    return `${kind} ${++this.#count}`;
  }
}

function reportText({ report: { outcome, detail } }: MemberItem): string {
  return detail === null ? outcome : `${outcome}: ${detail}`;
}

/** `20 nodes cannot be followed: n1 (timeout), n2 (timeout), n3 (refused) and 17 more` */
function failedText(items: readonly MemberItem[]): string {
  const named = items.slice(0, MAX_NAMED).map((item) => `${item.node} (${reportText(item)})`);
  const more = items.length > MAX_NAMED ? ` and ${items.length - MAX_NAMED} more` : '';
  return `${items.length} nodes cannot be followed: ${named.join(', ')}${more}`;
}
