import {
  type CallOptions,
  type ConfigHistoryRequest,
  type ConfigPeriod,
  type ConfigHistory as ConfigPeriods,
  type ConfigVersion,
  type FollowOptions,
  ofKinds,
  PortholeError,
  type SearchOptions,
  searchItems,
  toEvent,
} from '@porthole/contract';
import type { FollowItem, FollowQuery, SearchEnd, SearchQuery } from '@porthole/logs/types';
import type { RecordBatch } from '@porthole/records';
import { type ConfigHistory, compareValues } from './config-history.ts';

export {
  ConfigHistory,
  type ConfigValue,
  compareValues,
  type StoredConfig,
  toStoredConfig,
} from './config-history.ts';

/** Starts and changes that are read for the history. */
const MAX_EVENTS = 5000;

/** A directory of events, by the engine that reads logs. */
interface EventDir {
  search(request: SearchQuery, options?: SearchOptions): AsyncIterable<RecordBatch | SearchEnd>;
  follow(request: FollowQuery, options?: FollowOptions): AsyncIterable<FollowItem[]>;
  close(): Promise<void>;
}

interface NodePastDeps {
  logs: EventDir;
  history: ConfigHistory;
  isFailing?: () => boolean;
}

/** What happened to a node, read back: its own past, or what another node has recorded of it. */
export class NodePast {
  readonly #logs: EventDir;
  readonly #history: ConfigHistory;
  readonly #isFailing: () => boolean;

  /** `isFailing`: whether something cannot be written now. */
  constructor({ logs, history, isFailing = () => false }: NodePastDeps) {
    this.#logs = logs;
    this.#history = history;
    this.#isFailing = isFailing;
  }

  events(request: SearchQuery, options: SearchOptions = {}): AsyncIterable<RecordBatch | SearchEnd> {
    return this.#logs.search(ofKinds(request), options);
  }

  followEvents(request: FollowQuery, options: FollowOptions = {}): AsyncIterable<FollowItem[]> {
    return this.#logs.follow(ofKinds(request), options);
  }

  async configHistory({ key, atMs, limit }: ConfigHistoryRequest, options: CallOptions = {}): Promise<ConfigPeriods> {
    const { periods, isComplete } = await this.#periods(options);
    const contains = ({ fromMs, toMs }: ConfigPeriod) =>
      atMs === undefined || (fromMs <= atMs && atMs < (toMs ?? Number.POSITIVE_INFINITY));
    const hasKey = ({ changes }: ConfigPeriod) =>
      key === undefined || changes?.some((change) => change.key === key || change.key.startsWith(`${key}.`));
    const wanted: ConfigPeriod[] = [];
    for (const { version, before, fromMs, toMs } of periods) {
      if (wanted.length >= limit) break;
      const changes = before === undefined ? null : await this.#changes(before, version);
      const period = { version, fromMs, toMs, changes };
      if (contains(period) && hasKey(period)) wanted.push(period);
    }
    return { periods: wanted, isComplete };
  }

  async configVersion(version: string): Promise<ConfigVersion> {
    const stored = await this.#history.get(version);
    if (!stored)
      throw new PortholeError(
        'CONFIG_VERSION_NOT_FOUND',
        `no configuration has the version ${JSON.stringify(version.slice(0, 60))}; /api/v1/config/history lists them`,
      );
    return { ...stored, settings: [...stored.settings] };
  }

  close(): Promise<void> {
    return this.#logs.close();
  }

  async #changes(before: string, version: string): Promise<ConfigPeriod['changes']> {
    const [old, now] = await Promise.all([this.#history.get(before), this.#history.get(version)]);
    return old && now ? compareValues(old.settings, now.settings) : null;
  }

  /** Newest first. An event that names another configuration than the one before begins a period. */
  async #periods(options: CallOptions) {
    const query = { kind: 'exists', field: 'config' } as const;
    const request = { order: 'newest', limit: MAX_EVENTS, before: 0, after: 0, query } as const;
    const seen: { version: string; timeMs: number }[] = [];
    const kept = await this.#history.versions();
    let isComplete = false;
    for await (const items of searchItems({ search: (all, how) => this.events(all, how) }, request, options))
      for (const item of items) {
        if (item.type === 'end') isComplete = item.reason === 'exhausted' && item.problems.length === 0 && !item.limits;
        const event = item.type === 'record' ? toEvent(item) : undefined;
        const version = event?.fields.config;
        if (event && typeof version === 'string') seen.push({ version, timeMs: event.timeMs });
      }
    const periods: { version: string; before: string | undefined; fromMs: number; toMs: number | null }[] = [];
    for (const { version, timeMs } of seen.reverse()) {
      const last = periods.at(-1);
      if (last?.version === version) continue;
      if (last) last.toMs = timeMs;
      periods.push({ version, before: last?.version, fromMs: timeMs, toMs: null });
    }
    isComplete &&= !this.#isFailing() && periods.every(({ version }) => kept.has(version));
    return { periods: periods.reverse(), isComplete };
  }
}
