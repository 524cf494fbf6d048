import type { FieldType, RecordFilter } from '../../types.ts';
import type { ScanPart, ScanReport } from '../block/scan-file.ts';
import type { CountLimits, PackedCounts } from './value-counts.ts';
import type { PackRoom } from './value-table.ts';

/** Counts records by value of a field. */
export interface TopJob extends ScanPart {
  kind: 'top';
  filter: RecordFilter;
  by: string;
  /** Count only these, as `boundedValue` returns them. */
  values: readonly string[] | undefined;
  /** Also count over time. */
  bucketMs: number | undefined;
  limits: CountLimits;
  /** Memory for its result; transferred with it. */
  room?: PackRoom | undefined;
}

export interface TopResult extends ScanReport {
  counts: PackedCounts;
  /** Matching records, and those without the field. */
  records: number;
  missing: number;
  /** Counts of values that were not requested. */
  unwanted: number;
}

/** The fields of records. */
export interface FieldsJob extends ScanPart {
  kind: 'fields';
  filter: RecordFilter;
  limits: FieldLimits;
}

export interface FieldLimits {
  maxFields?: number | undefined;
  /** Maximum number of values of each field, and of all of them together. */
  maxValues?: number | undefined;
  maxAllValues?: number | undefined;
}

export interface ScannedField {
  name: string;
  records: number;
  types: [FieldType, number][];
  /** Values and how often each occurred; if `sketch` is present, only some of them. */
  values: [string, number][];
  /** Registers of a `DistinctSketch` of all values, if they are too many to keep. */
  sketch: Uint8Array<ArrayBuffer> | undefined;
}

export interface FieldsResult extends ScanReport {
  fields: ScannedField[];
  /** Registers of a `DistinctSketch` of the names of all fields, if they are too many to keep. */
  names: Uint8Array<ArrayBuffer> | undefined;
  records: number;
}
