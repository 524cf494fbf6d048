import type { TopSource } from '@porthole/contract';
import { boundedValue, shownValue, ValueCounts } from '@porthole/logs';
import { type FieldRef, refValues } from '@porthole/logs/query';
import type { Question } from '../question.ts';
import type { NodeTally } from '../reports.ts';
import { matchingRows } from './count-windows.ts';

/** Different values counted exactly, of all nodes together. */
const MAX_VALUES = 400_000;
const MIN_VALUES_OF_NODE = 1000;
const MAX_VALUES_OF_NODE = 50_000;

/** Values that a node lists: more than any response shows. */
const MAX_LISTED = 10_000;

interface NodeCounts {
  table: ValueCounts;
  others: number;
  missing: number;
}

export interface EngineValuesOptions {
  ref: FieldRef;
  wanted: ReadonlySet<string> | undefined;
  bucketMs: number | undefined;
}

/** Counts by value of rows that only the engine can read. */
export class EngineValues {
  readonly #question: Question;
  readonly #options: EngineValuesOptions;
  readonly #limits: { maxValues: number };
  readonly #nodes = new Map<string, NodeCounts>();

  constructor(question: Question, options: EngineValuesOptions) {
    this.#question = question;
    this.#options = options;
    const share = Math.floor(MAX_VALUES / Math.max(1, question.nodes.length));
    this.#limits = { maxValues: Math.min(MAX_VALUES_OF_NODE, Math.max(MIN_VALUES_OF_NODE, share)) };
  }

  async count(isInside: string, { where, tally }: { where: string; tally: NodeTally }): Promise<void> {
    const { ref, wanted, bucketMs } = this.#options;
    for await (const rows of matchingRows(this.#question, isInside, where)) {
      for (const decoded of rows) {
        const { node, has_time, time_ms } = decoded.row;
        const counts = this.#countsOf(node);
        tally.note(decoded);
        const values = new Set(refValues(decoded.record, ref));
        if (values.size === 0) counts.missing++;
        for (const value of values) {
          const bounded = boundedValue(value);
          if (wanted && !wanted.has(shownValue(bounded))) counts.others++;
          else {
            const id = counts.table.idFor(bounded);
            counts.table.add(id);
            if (bucketMs !== undefined && has_time) counts.table.addCell(id, Math.floor(time_ms / bucketMs));
          }
        }
      }
    }
  }

  tops(): TopSource[] {
    return [...this.#nodes].map(([id, { table, others, missing }]) => {
      const found = table.mostFrequent(MAX_LISTED);
      const listed = found.reduce((sum, { count }) => sum + count, 0);
      const values = found.map(({ value, count, error }) => {
        return { value: shownValue(value), count, ...(error > 0 && { error }) };
      });
      const rest = { others: others + table.total - listed, missing, distinct: table.distinct() };
      return { id, top: { values, ...rest, isExact: table.isExact } };
    });
  }

  /** Counts over time of the values that occur here; `undefined` where they are no longer known. */
  cells(values: readonly string[]): Map<string, Map<number, number> | undefined> {
    const wanted = new Set(values);
    const sums = new Map<string, Map<number, number> | undefined>();
    for (const { table } of this.#nodes.values()) {
      const found = table.mostFrequent(MAX_LISTED).filter(({ value }) => wanted.has(shownValue(value)));
      const cells = table.cellsFor(found.map(({ id }) => id));
      for (const { id, value } of found) {
        const shown = shownValue(value);
        const known = sums.has(shown) ? sums.get(shown) : new Map<number, number>();
        sums.set(shown, addCells(known, cells.get(id)));
      }
    }
    return sums;
  }

  #countsOf(node: string): NodeCounts {
    const counts = this.#nodes.get(node) ?? { table: new ValueCounts(this.#limits), others: 0, missing: 0 };
    this.#nodes.set(node, counts);
    return counts;
  }
}

type Cells = ReadonlyMap<number, number>;

/** The sum of counts over time; unknown if one is. */
export function addCells(sum: Cells | undefined, more: Cells | undefined): Map<number, number> | undefined {
  if (!sum || !more) return undefined;
  const added = new Map(sum);
  for (const [bucket, count] of more) added.set(bucket, (added.get(bucket) ?? 0) + count);
  return added;
}
