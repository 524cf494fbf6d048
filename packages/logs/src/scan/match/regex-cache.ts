import { filterToQuery } from '../../query/filter-to-query.ts';
import { regexNodes } from '../../query/query-regexes.ts';
import type { RecordFilter } from '../../types.ts';
import type { FindRegex } from './record-matcher.ts';
import { compileRegex, type SafeRegex } from './regex.ts';

/** Regexes that are kept: those of the searches that take turns. */
const MAX_KEPT = 16;

/** Compiles the regexes of a filter, and keeps them for the next one that has the same. */
export class RegexCache {
  /** The least recently used first. */
  readonly #kept = new Map<string, SafeRegex>();

  /** Rejects with REGEX_TOO_COMPLEX or REGEX_INVALID. */
  async compile(filter: RecordFilter): Promise<FindRegex> {
    const query = filterToQuery(filter);
    const regexes = new Map<string, SafeRegex>();
    for (const { pattern, caseSensitive = false } of query ? regexNodes(query) : []) {
      const key = regexKey(pattern, caseSensitive);
      const regex = this.#kept.get(key) ?? (await compileRegex(pattern, { caseSensitive }));
      this.#kept.delete(key);
      this.#kept.set(key, regex);
      regexes.set(key, regex);
    }
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break;
      this.#kept.delete(oldest);
    }
    return ({ pattern, caseSensitive = false }) => {
      const regex = regexes.get(regexKey(pattern, caseSensitive));
      if (!regex) throw new Error(`the regex ${pattern} was not compiled`);
      return regex;
    };
  }
}

function regexKey(pattern: string, caseSensitive: boolean): string {
  return `${caseSensitive}:${pattern}`;
}
