import { LogError } from '../../log-error.ts';
import { filterToQuery, regexNodes } from '../../query/filter-to-query.ts';
import { countSteps, MAX_REGEX_STEPS } from '../../regex/count-steps.ts';
import { RegexPrefilter } from '../../regex/prefilter.ts';
import type { RecordFilter } from '../../types.ts';
import type { FindRegex } from './record-matcher.ts';

/** A compiled pattern. Time is linear in the text, whatever the pattern, and in the number of its steps. */
export interface SafeRegex {
  test(text: string): boolean;
  /** Skips text in which it cannot match. */
  readonly prefilter: RegexPrefilter;
}

/**
 * Compiles RE2 syntax; `^` and `$` match at lines. The regex engine is loaded when first needed. Rejects with
 * REGEX_TOO_COMPLEX before anything is compiled, or with REGEX_INVALID.
 */
export async function compileRegex(pattern: string, { caseSensitive = false } = {}): Promise<SafeRegex> {
  const steps = countSteps(pattern);
  if (steps > MAX_REGEX_STEPS) {
    throw new LogError(
      'REGEX_TOO_COMPLEX',
      `the regex has ${steps} steps with its repeats expanded; at most ${MAX_REGEX_STEPS} are allowed: use smaller counts`,
    );
  }
  const { RE2JS } = await import('re2js');
  try {
    const flags = RE2JS.MULTILINE | (caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
    const compiled = RE2JS.compile(pattern, flags);
    const prefilter = new RegexPrefilter(pattern, { caseSensitive });
    return { test: (text) => compiled.test(text), prefilter };
  } catch (error) {
    // The flags are prepended to the pattern; hide them from the message, the user did not write them.
    const why = (error instanceof Error ? error.message : String(error)).replace(/\(\?m\)(\(\?i\))?/, '');
    throw new LogError('REGEX_INVALID', `invalid regex: ${why}`, { cause: error });
  }
}

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
