import { filterToQuery } from '../../query/filter-to-query.ts';
import { regexNodes } from '../../query/query-regexes.ts';
import type { RecordFilter } from '../../types.ts';
import type { FindRegex } from './record-matcher.ts';
import { compileRegex, type SafeRegex } from './regex.ts';

/** Compiles the regexes of a filter, and keeps them for the next one that has the same. */
export class RegexCache {
  #regexes: ReadonlyMap<string, SafeRegex> = new Map();

  /** Rejects with REGEX_TOO_COMPLEX or REGEX_INVALID. */
  async compile(filter: RecordFilter): Promise<FindRegex> {
    const query = filterToQuery(filter);
    const regexes = new Map<string, SafeRegex>();
    for (const { pattern, caseSensitive = false } of query ? regexNodes(query) : []) {
      const key = regexKey(pattern, caseSensitive);
      regexes.set(key, this.#regexes.get(key) ?? (await compileRegex(pattern, { caseSensitive })));
    }
    if (regexes.size > 0) this.#regexes = regexes;
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
