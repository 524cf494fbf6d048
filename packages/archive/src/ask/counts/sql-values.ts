import type { TopSource } from '@porthole/contract';
import { boundedValue, shownValue } from '@porthole/logs';
import { quote, quoteInteger } from '../../clickhouse/quote.ts';
import type { Question } from '../question.ts';
import { bucketOf } from './count-windows.ts';
import type { TopPlan } from './top-plan.ts';

/** Different values of all nodes that are read; of more, the most frequent ones. */
const MAX_GROUPS = 100_000;

/** A value is shown with 256 characters. */
const SHOWN_BYTES = 2000;

interface GroupRow {
  node: string;
  /** With a `=` before it; empty: the record has none. */
  shown: string;
  n: number;
}

interface NodeCounts {
  values: Map<string, number>;
  others: number;
  missing: number;
}

/** A value as responses show it: a long one is cut. */
export function toShown(value: string): string {
  return shownValue(boundedValue(value));
}

/** Counts by value that SQL makes. */
export class SqlValues {
  readonly #question: Question;
  readonly #plan: NonNullable<TopPlan['bySql']>;
  readonly #wanted: ReadonlySet<string> | undefined;
  readonly #nodes = new Map<string, NodeCounts>();
  #isCut = false;

  constructor(question: Question, plan: NonNullable<TopPlan['bySql']>, wanted: ReadonlySet<string> | undefined) {
    this.#question = question;
    this.#plan = plan;
    this.#wanted = wanted;
  }

  async count(isInside: string): Promise<void> {
    const { run } = this.#question;
    const rows = await run.all<GroupRow>(
      `SELECT node, substring(value, 1, ${SHOWN_BYTES}) AS shown, count() AS n FROM (` +
        `SELECT node, arrayJoin(if(empty(list), [''], arrayMap(one -> concat('=', one), list))) AS value FROM (` +
        `${this.#rows(isInside)})) GROUP BY node, value ORDER BY n DESC, value LIMIT ${MAX_GROUPS + 1}`,
    );
    if (run.isOver) return;
    for (const { node, shown, n } of rows.slice(0, MAX_GROUPS)) {
      const counts = this.#countsOf(node);
      const value = toShown(shown.slice(1));
      if (shown === '') counts.missing += n;
      else if (this.#wanted && !this.#wanted.has(value)) counts.others += n;
      else counts.values.set(value, (counts.values.get(value) ?? 0) + n);
    }
    if (rows.length > MAX_GROUPS) await this.#addRest(isInside, rows.slice(0, MAX_GROUPS));
  }

  /** One per node, by id. */
  tops(): TopSource[] {
    return [...this.#nodes].map(([id, { values, others, missing }]) => ({
      id,
      top: {
        values: [...values].map(([value, count]) => ({ value, count })),
        ...{ others, missing, distinct: values.size, isExact: !this.#isCut },
      },
    }));
  }

  /** Counts over time, of values that are shown whole. */
  async cells(values: readonly string[], bucketMs: number): Promise<Map<string, Map<number, number> | undefined>> {
    const cells = new Map(values.map((value) => [value, value.endsWith('…') ? undefined : new Map<number, number>()]));
    const whole = values.filter((value) => cells.get(value));
    if (whole.length === 0) return cells;
    const { run } = this.#question;
    const rows = await run.all<{ value: string; bucket: number; n: number }>(
      `SELECT value, bucket, count() AS n FROM (SELECT arrayJoin(list) AS value, bucket FROM (` +
        `${this.#rows('has_time = 1', `, ${bucketOf(bucketMs)} AS bucket`)})) ` +
        `WHERE value IN (${whole.map(quote).join(', ')}) GROUP BY value, bucket LIMIT ${quoteInteger(1_000_000)}`,
    );
    if (run.isOver) return new Map(values.map((value) => [value, undefined]));
    for (const { value, bucket, n } of rows) cells.get(value)?.set(bucket, n);
    return cells;
  }

  #rows(isInside: string, more = ''): string {
    const { values, where } = this.#plan;
    return `SELECT node, ${values} AS list${more} FROM ${this.#question.table} WHERE ${where} AND ${isInside}`;
  }

  /** What is not among the groups that were read. */
  async #addRest(isInside: string, read: readonly GroupRow[]): Promise<void> {
    this.#isCut = true;
    const rows = await this.#question.run.all<{ node: string; n: number; missing: number }>(
      `SELECT node, sum(length(list)) AS n, countIf(empty(list)) AS missing FROM (${this.#rows(isInside)}) GROUP BY node`,
    );
    const [listed, without] = [new Map<string, number>(), new Map<string, number>()];
    for (const { node, shown, n } of read) {
      const sums = shown === '' ? without : listed;
      sums.set(node, (sums.get(node) ?? 0) + n);
    }
    for (const { node, n, missing } of rows) {
      const counts = this.#countsOf(node);
      counts.others += n - (listed.get(node) ?? 0);
      counts.missing += missing - (without.get(node) ?? 0);
    }
  }

  #countsOf(node: string): NodeCounts {
    const counts = this.#nodes.get(node) ?? { values: new Map(), others: 0, missing: 0 };
    this.#nodes.set(node, counts);
    return counts;
  }
}
