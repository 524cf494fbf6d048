import type { PageOptions, RowFilter } from '../../../log-view/source/log-source.ts';
import type { RemoteFields } from './completions.ts';

/** Fields come and go slowly. */
const FRESH_MS = 60_000;

/** Completion must not keep a node busy. */
const BUDGET_MS = 1500;

const MAX_FIELDS = 200;
const MAX_VALUES = 10;

/** Queried fields whose values are remembered. */
const MAX_CACHED = 50;

/** What is used of the logs of the workspace. */
interface FieldSource {
  fields(request: { filter: RowFilter; limit: number }, options: PageOptions): Promise<Pick<RemoteFields, 'fields'>>;
  top(
    request: { filter: RowFilter; by: string; limit: number },
    options: PageOptions,
  ): Promise<Pick<RemoteFields, 'values'>>;
}

interface CatalogDeps {
  source: FieldSource;
  /** Which records are examined; time ranges that end now move with every call. */
  filter: () => RowFilter;
  nowMs: () => number;
}

/** The fields of the selected logs and their most frequent values, as the nodes know them. */
export class FieldCatalog {
  readonly #deps: CatalogDeps;
  readonly #cache = new Map<string, { atMs: number; value: unknown }>();

  constructor(deps: CatalogDeps) {
    this.#deps = deps;
  }

  fields(signal: AbortSignal): Promise<RemoteFields['fields']> {
    const { source, filter } = this.#deps;
    return this.#cached('fields', async () => {
      const request = { filter: filter(), limit: MAX_FIELDS };
      return (await source.fields(request, { signal, budgetMs: BUDGET_MS })).fields;
    });
  }

  values(field: string, signal: AbortSignal): Promise<RemoteFields['values']> {
    const { source, filter } = this.#deps;
    return this.#cached(`values ${field}`, async () => {
      const request = { filter: filter(), by: field, limit: MAX_VALUES };
      return (await source.top(request, { signal, budgetMs: BUDGET_MS })).values;
    });
  }

  /** Only successes are kept. */
  async #cached<Value>(key: string, load: () => Promise<Value>): Promise<Value> {
    const known = this.#cache.get(key);
    if (known && this.#deps.nowMs() - known.atMs < FRESH_MS) return known.value as Value;
    const value = await load();
    this.#cache.delete(key);
    this.#cache.set(key, { atMs: this.#deps.nowMs(), value });
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED && oldest !== undefined) this.#cache.delete(oldest);
    return value;
  }
}
