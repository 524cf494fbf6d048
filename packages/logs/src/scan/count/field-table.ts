import { type RecordField, valueType } from '../../query/index.ts';
import type { FieldSummary, FieldType } from '../../types.ts';
import type { FieldLimits, FieldsResult, ScannedField } from './count-jobs.ts';
import { DistinctSketch } from './value-counts.ts';
import { boundedValue, shownValue } from './value-table.ts';

/** Fields counted. Names are keys of logged objects, which some programs fill with ids. */
const MAX_FIELDS = 1000;

/** Names that are longer are no names. */
const MAX_NAME_LENGTH = 256;

/** Different values of a field that are kept, and of all fields together: the number of others is estimated. */
const MAX_VALUES = 500;
const MAX_ALL_VALUES = 20_000;

/** Longer ones are identified by their start and a hash. */
const MAX_VALUE_LENGTH = 128;

/** Shown of each field. */
const MAX_EXAMPLES = 5;

/** Rarer types are chance: some hexadecimal ids consist of digits, or end like a duration. */
const MIN_TYPE_SHARE = 0.05;

interface FieldState {
  records: number;
  /** The last record counted: a field with several values counts once. */
  lastRecord: number;
  types: Map<FieldType, number>;
  values: Map<string, number>;
  sketch: DistinctSketch | undefined;
}

/** Fields and what their values look like, in bounded memory. */
export class FieldTable {
  records = 0;
  readonly #maxFields: number;
  readonly #maxValues: number;
  readonly #maxAllValues: number;
  readonly #fields = new Map<string, FieldState>();
  #allValues = 0;
  /** Estimates the number of names, if they are too many to keep. */
  #names: DistinctSketch | undefined;

  constructor({ maxFields = MAX_FIELDS, maxValues = MAX_VALUES, maxAllValues = MAX_ALL_VALUES }: FieldLimits = {}) {
    this.#maxFields = maxFields;
    this.#maxValues = maxValues;
    this.#maxAllValues = maxAllValues;
  }

  /** Counts the fields of one record. */
  count(fields: readonly RecordField[]): void {
    this.records++;
    for (const { name, text } of fields) {
      const state = this.#state(name);
      if (!state) continue;
      if (state.lastRecord !== this.records) state.records++;
      state.lastRecord = this.records;
      const type = valueType(text, name);
      state.types.set(type, (state.types.get(type) ?? 0) + 1);
      this.#addValue(state, boundedValue(text, MAX_VALUE_LENGTH), 1);
    }
  }

  merge({ fields, names, records }: Pick<FieldsResult, 'fields' | 'names' | 'records'>): void {
    this.records += records;
    if (names) this.#sketchNames().merge(new DistinctSketch(names));
    for (const field of fields) {
      const state = this.#state(field.name);
      if (!state) continue;
      state.records += field.records;
      for (const [type, count] of field.types) state.types.set(type, (state.types.get(type) ?? 0) + count);
      if (field.sketch) this.#sketchValues(state).merge(new DistinctSketch(field.sketch));
      for (const [value, count] of field.values) this.#addValue(state, value, count);
    }
  }

  pack(): Pick<FieldsResult, 'fields' | 'names' | 'records'> {
    const fields: ScannedField[] = [...this.#fields].map(([name, { records, types, values, sketch }]) => {
      return { name, records, types: [...types], values: [...values], sketch: sketch?.registers };
    });
    return { fields, names: this.#names?.registers, records: this.records };
  }

  /** Fields, including those that are not kept: estimated if there are any. */
  totalFields(): number {
    return Math.max(this.#fields.size, this.#names?.estimate() ?? 0);
  }

  /** Those of the most records first, of equally many by name. */
  summaries(limit: number): FieldSummary[] {
    const sorted = [...this.#fields].sort(
      ([aName, a], [bName, b]) => b.records - a.records || (aName < bName ? -1 : 1),
    );
    return sorted.slice(0, limit).map(([name, { records, types, values, sketch }]) => ({
      name,
      types: mainTypes(types),
      records,
      distinct: Math.max(values.size, sketch?.estimate() ?? 0),
      isDistinctExact: sketch === undefined,
      examples: mostFrequent(values)
        .slice(0, MAX_EXAMPLES)
        .map((value) => shownValue(value, MAX_VALUE_LENGTH)),
    }));
  }

  /** `undefined`: it is not kept. */
  #state(name: string): FieldState | undefined {
    const known = this.#fields.get(name);
    if (known || name.length > MAX_NAME_LENGTH) return known;
    if (this.#fields.size >= this.#maxFields) {
      this.#sketchNames().add(name);
      return undefined;
    }
    const state = { records: 0, lastRecord: 0, types: new Map(), values: new Map(), sketch: undefined };
    this.#fields.set(name, state);
    this.#names?.add(name);
    return state;
  }

  #addValue(state: FieldState, value: string, count: number): void {
    const { values } = state;
    const known = values.get(value);
    if (known === undefined && values.size < this.#maxValues && this.#allValues < this.#maxAllValues) {
      this.#allValues++;
      values.set(value, count);
    } else if (known === undefined) {
      this.#sketchValues(state);
    } else {
      values.set(value, known + count);
    }
    state.sketch?.add(value);
  }

  #sketchValues(state: FieldState): DistinctSketch {
    state.sketch ??= sketchOf(state.values.keys());
    return state.sketch;
  }

  #sketchNames(): DistinctSketch {
    this.#names ??= sketchOf(this.#fields.keys());
    return this.#names;
  }
}

function sketchOf(texts: Iterable<string>): DistinctSketch {
  const sketch = new DistinctSketch();
  for (const text of texts) sketch.add(text);
  return sketch;
}

function mainTypes(types: ReadonlyMap<FieldType, number>): FieldType[] {
  const counts = [...types.values()];
  const least = MIN_TYPE_SHARE * counts.reduce((sum, count) => sum + count, 0);
  return mostFrequent(new Map([...types].filter(([, count]) => count >= least)));
}

/** Equally frequent ones in the order of their texts. */
function mostFrequent<T extends string>(counts: ReadonlyMap<T, number>): T[] {
  return [...counts].sort(([aText, a], [bText, b]) => b - a || (aText < bText ? -1 : 1)).map(([text]) => text);
}
