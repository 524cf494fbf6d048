import { boundedValue, shownValue } from './bounded-value.ts';
import type { TopJob, TopResult } from './count-jobs.ts';
import { ValueCounts } from './value-counts.ts';
import { NO_ID, ValueIds } from './value-ids.ts';

/** Of a value that was not requested. */
const UNWANTED = -1;

/** Counts the values of records. `bucket` is `NaN` for a record that is in none. */
export class TopTable {
  readonly #counts: ValueCounts;
  readonly #ids = new ValueIds();
  readonly #wanted: ReadonlySet<string> | undefined;
  #records = 0;
  #missing = 0;
  #unwanted = 0;

  constructor({ values, limits }: Pick<TopJob, 'values' | 'limits'>) {
    this.#counts = new ValueCounts(limits);
    this.#wanted = values && new Set(values);
  }

  /** A record with these values. One that it has twice counts once. */
  count(values: readonly string[], bucket: number): void {
    this.#records++;
    if (values.length === 0) this.#missing++;
    const [first] = values;
    if (values.length === 1 && first !== undefined) this.#add(this.#idFor(first), bucket);
    else for (const value of new Set(values)) this.#add(this.#idFor(value), bucket);
  }

  /** A record without a value. */
  countMissing(): void {
    this.#records++;
    this.#missing++;
  }

  /** A record with one value: these bytes. */
  countBytes(bytes: Buffer, start: number, end: number, bucket: number): void {
    this.#records++;
    let id = this.#ids.find(bytes, start, end, this.#counts.generation);
    if (id === NO_ID) {
      id = this.#idFor(bytes.toString('utf8', start, end));
      this.#ids.set(bytes, start, end, id);
    }
    this.#add(id, bucket);
  }

  result(): Pick<TopResult, 'counts' | 'records' | 'missing' | 'unwanted'> {
    return {
      counts: this.#counts.pack(),
      records: this.#records,
      missing: this.#missing,
      unwanted: this.#unwanted,
    };
  }

  #add(id: number, bucket: number): void {
    if (id === UNWANTED) {
      this.#unwanted++;
      return;
    }
    this.#counts.add(id);
    if (!Number.isNaN(bucket)) this.#counts.addCell(id, bucket);
  }

  /** A long value may be requested as it is shown. */
  #idFor(value: string): number {
    const bounded = boundedValue(value);
    if (!this.#wanted || this.#wanted.has(bounded)) return this.#counts.idFor(bounded);
    const shown = shownValue(bounded);
    return this.#wanted.has(shown) ? this.#counts.idFor(shown) : UNWANTED;
  }
}
