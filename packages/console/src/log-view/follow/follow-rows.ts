import type { ClusterFollowItem } from '@porthole/client';
import { formatBytes } from '../../ui/format.ts';
import { recordRow } from '../model/row-buffer.ts';
import type { Row } from '../model/workspace-state.ts';
import type { RecordKey } from '../source/log-source.ts';

type ItemOfType<Type extends ClusterFollowItem['type']> = Extract<ClusterFollowItem, { type: Type }>;

/** Between which records those of a gap stand. */
export interface GapFacts {
  /** Only records of this node are missing; `null`: of all. */
  node: string | null;
  after: RecordKey;
  until: RecordKey | null;
}

const GAP_REASONS: Readonly<Record<ItemOfType<'gap'>['reason'], string>> = {
  slow: 'the connection was too slow',
  truncated: 'the file was cut while it was read',
  gone: 'the place is no longer in the log',
};

/** Makes rows of what a follow tells, and remembers of gaps where what is missing can be had. */
export class FollowRows {
  readonly gaps = new Map<string, GapFacts>();
  #count = 0;

  /** `undefined` for what is only a status. */
  toRow(item: ClusterFollowItem): Row | undefined {
    switch (item.type) {
      case 'record':
        return recordRow(item);
      case 'gap':
        return this.#toGapRow(item);
      case 'rotated':
        return this.event(item.node, `${item.from} was rotated: reading ${item.to}`);
      case 'truncated': {
        const lost = item.lostBytes === null ? '' : `, ${formatBytes(item.lostBytes)} not read`;
        return this.event(item.node, `${item.file} was cut${lost}: reading it from its start`, { isProblem: true });
      }
      case 'missing':
        return this.event(item.node, `${item.family} is not there at the moment`, { isProblem: true });
      case 'member': {
        const { outcome, detail } = item.report;
        if (outcome === 'ok') return this.event(item.node, `${item.node} is followed again`);
        const why = detail === null ? outcome : `${outcome}: ${detail}`;
        return this.event(item.node, `${item.node} cannot be followed (${why})`, { isProblem: true });
      }
      case 'reconnecting':
        if (!('node' in item)) return undefined;
        return this.event(item.node, `the connection to ${item.node} was lost: ${item.reason}`, { isProblem: true });
      case 'skipped':
        return this.event('node' in item ? item.node : null, item.detail, { isProblem: true });
      case 'end':
        return undefined;
    }
  }

  event(node: string | null, text: string, { isProblem = false } = {}): Row {
    return { kind: 'event', key: this.#newKey('event'), node, text, isProblem };
  }

  /** Records between two that are known. */
  gap(text: string, facts: GapFacts | null): Row {
    const key = this.#newKey('gap');
    if (facts) this.gaps.set(key, facts);
    return { kind: 'gap', key, node: facts?.node ?? null, text, canLoad: facts !== null, isLoading: false };
  }

  #toGapRow({ node, family, reason, bytes, after, until }: ItemOfType<'gap'>): Row {
    const size = bytes === null ? 'Records' : formatBytes(bytes);
    const text = `${size} of ${family} not shown: ${GAP_REASONS[reason]}`;
    const facts =
      after === null
        ? null
        : { node, after: { node, cursor: after }, until: until === null ? null : { node, cursor: until } };
    return { ...this.gap(text, facts), node } as Row;
  }

  #newKey(kind: string): string {
    return `${kind} ${++this.#count}`;
  }
}
