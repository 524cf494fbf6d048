import { isMainThread } from 'node:worker_threads';
import type { TopJob, TopResult } from './count-jobs.ts';
import { type CountLimits, ValueCounts } from './value-counts.ts';
import { boundedValue, MAX_VALUE_LENGTH, NO_ID, type PackRoom, shownValue, ValueTable } from './value-table.ts';

/** The index of a value that was not requested. */
const UNWANTED = -2;

/** Values of so many bytes are not cut, whatever they contain. */
const UNCUT_BYTES = MAX_VALUE_LENGTH;

/**
 * The table of the thread's last job, for the next one: tables of some MiB for each job would be garbage for a while.
 * Only of scanning threads, which end when they are idle.
 */
let spare: ValueCounts | undefined;

/** Values that records have together, and their ids in a generation of the table. Made by `groupOf`. */
export interface ValueGroup {
  readonly values: readonly string[];
  ids: number[];
  generation: number;
}

/** One that a record has twice counts once. */
export function groupOf(values: readonly string[]): ValueGroup {
  return { values: [...new Set(values)], ids: [], generation: -1 };
}

/** Counts the values of records. `bucket` is `NaN` for a record that is in none. */
export class TopTable {
  readonly #counts: ValueCounts;
  readonly #wanted: ReadonlySet<string> | undefined;
  readonly #wantedBytes: ValueTable | undefined;
  #records = 0;
  #missing = 0;
  #unwanted = 0;

  readonly #room: PackRoom | undefined;

  constructor({ values, limits, room }: Pick<TopJob, 'values' | 'limits' | 'room'>) {
    this.#room = room;
    this.#counts = takeCounts(limits);
    this.#wanted = values && new Set(values);
    this.#wantedBytes = values && tableOf(values);
  }

  /** A record with these values. One that it has twice counts once. */
  count(values: readonly string[], bucket: number): void {
    this.#records++;
    if (values.length === 0) this.#missing++;
    const [first] = values;
    if (values.length === 1 && first !== undefined) this.#add(this.#idFor(first), bucket);
    else for (const value of new Set(values)) this.#add(this.#idFor(value), bucket);
  }

  /** A record with the values of a group: for groups that many records have. */
  countGroup(group: ValueGroup, bucket: number): void {
    if (group.generation !== this.#counts.generation) {
      this.#countNewGroup(group, bucket);
      return;
    }
    this.#records++;
    const { ids } = group;
    if (ids.length === 0) this.#missing++;
    for (let at = 0; at < ids.length; at++) this.#add(ids[at] ?? UNWANTED, bucket);
  }

  /** A record without a value. */
  countMissing(): void {
    this.#records++;
    this.#missing++;
  }

  /** A record with one value: these bytes. */
  countBytes(bytes: Buffer, start: number, end: number, bucket: number): void {
    this.#records++;
    this.#add(this.#idForBytes(bytes, start, end), bucket);
  }

  /** The end of it: nothing is counted after that. */
  result(): Pick<TopResult, 'counts' | 'records' | 'missing' | 'unwanted'> {
    const counts = this.#counts.pack(this.#room);
    if (!isMainThread) spare = this.#counts;
    return {
      counts,
      records: this.#records,
      missing: this.#missing,
      unwanted: this.#unwanted,
    };
  }

  /** A value that is added may be the one for which others are dropped, and their ids change. */
  #countNewGroup(group: ValueGroup, bucket: number): void {
    const { generation } = this.#counts;
    group.ids = group.values.map((value) => {
      const id = this.#idFor(value);
      this.#add(id, bucket);
      return id;
    });
    this.#records++;
    if (group.values.length === 0) this.#missing++;
    group.generation = generation === this.#counts.generation ? generation : -1;
  }

  #add(id: number, bucket: number): void {
    if (id === UNWANTED) {
      this.#unwanted++;
      return;
    }
    this.#counts.add(id);
    if (!Number.isNaN(bucket)) this.#counts.addCell(id, bucket);
  }

  /** No text is created for a value that is already known, or of ASCII. */
  #idForBytes(bytes: Buffer, start: number, end: number): number {
    if (end - start <= UNCUT_BYTES) {
      const known = this.#counts.find(bytes, start, end);
      if (known !== NO_ID) return known;
      // Other bytes may be invalid, and then are those of another text.
      if (isAscii(bytes, start, end)) {
        const isWanted = !this.#wantedBytes || this.#wantedBytes.find(bytes, start, end) !== NO_ID;
        return isWanted ? this.#counts.idForBytes(bytes, start, end) : UNWANTED;
      }
    }
    return this.#idFor(bytes.toString('utf8', start, end));
  }

  /** A long value may be requested as it is shown. */
  #idFor(value: string): number {
    const bounded = boundedValue(value);
    if (!this.#wanted || this.#wanted.has(bounded)) return this.#counts.idFor(bounded);
    const shown = shownValue(bounded);
    return this.#wanted.has(shown) ? this.#counts.idFor(shown) : UNWANTED;
  }
}

function takeCounts(limits: CountLimits): ValueCounts {
  const counts = spare ?? new ValueCounts();
  spare = undefined;
  counts.clear(limits);
  return counts;
}

function tableOf(values: readonly string[]): ValueTable {
  const table = new ValueTable();
  for (const value of values) {
    const bytes = Buffer.from(value);
    if (table.find(bytes, 0, bytes.length) === NO_ID) table.add(bytes, 0, bytes.length);
  }
  return table;
}

function isAscii(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((bytes[at] ?? 0) > 0x7f) return false;
  return true;
}
