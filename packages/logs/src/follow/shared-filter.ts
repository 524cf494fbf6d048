import { RecordMatcher } from '../scan/match/record-matcher.ts';
import { RegexConditions } from '../scan/match/regex-conditions.ts';
import type { ReadOptions, RecordFilter } from '../types.ts';
import type { RecordEntry } from './ring/ring-entry.ts';

/** Matches a filter's regex off the main thread. */
export type MatchRegex = (filter: RecordFilter, texts: readonly Buffer[], options: ReadOptions) => Promise<boolean[]>;

type Decision = boolean | Promise<boolean>; // kept: one for each record; it has a handler from birth

/** Evaluates a filter once per record for all followers that share it. */
export class SharedFilter {
  readonly #matcher: RecordMatcher;
  readonly #regexes: RegexConditions | undefined;
  readonly #matchRegex: MatchRegex;
  readonly #decisions = new WeakMap<RecordEntry, Decision>();

  constructor(filter: RecordFilter, matchRegex: MatchRegex) {
    this.#matcher = new RecordMatcher(filter);
    this.#regexes = RegexConditions.of(filter);
    this.#matchRegex = matchRegex;
  }

  /** The entries that match. A part of a record matches if the start of the record does. */
  async choose(entries: readonly RecordEntry[]): Promise<ReadonlySet<RecordEntry>> {
    // Testing a head takes less than remembering the decision.
    if (this.#matcher.headOnly)
      return new Set(entries.filter(({ first }) => this.#matcher.matchesHead(first.piece.head)));
    this.#decideNew(entries.map(({ first }) => first));
    const wanted = new Set<RecordEntry>();
    for (const entry of entries) {
      const decision = this.#decisions.get(entry.first);
      // Awaiting costs more than evaluating, so only undecided entries are awaited.
      if (decision === true || (decision instanceof Promise && (await decision) === true)) wanted.add(entry);
    }
    return wanted;
  }

  #decideNew(entries: readonly RecordEntry[]): void {
    const open: RecordEntry[] = [];
    for (const entry of entries) {
      if (this.#decisions.has(entry)) continue;
      const matches = this.#matches(entry);
      this.#decisions.set(entry, matches);
      if (matches && this.#regexes) open.push(entry);
    }
    if (!this.#regexes || open.length === 0) return;
    const records = open.map(({ piece: { bytes }, format }) => ({
      fields: () => format.decode(bytes, 0, bytes.length),
      text: () => bytes.toString(),
    }));
    const results = this.#regexes.decide(records, (filter, texts) => this.#matchRegex(filter, texts, {}));
    for (const [index, entry] of open.entries()) {
      const decision = results.then((matches) => {
        this.#decisions.set(entry, matches[index] ?? false);
        return matches[index] ?? false;
      });
      // Whoever awaits the decision gets the failure; if nobody does, it must not become an unhandled rejection.
      decision.catch(() => this.#decisions.delete(entry));
      this.#decisions.set(entry, decision);
    }
  }

  #matches({ piece, format }: RecordEntry): boolean {
    const { bytes, head } = piece;
    return this.#matcher.matchesHead(head) && this.#matcher.matchesText(bytes, 0, bytes.length, format);
  }
}

/** Only the filter parameters of a query. */
export function pickFilter(query: RecordFilter): RecordFilter {
  const { fromMs, toMs, minLevel, terms, excluded, caseSensitive, regex, source, component, query: node } = query;
  const columns = { minLevel, source, component };
  const given = Object.entries({ fromMs, toMs, ...columns, terms, excluded, caseSensitive, regex, query: node });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}
