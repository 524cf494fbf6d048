import type { Zone } from '@porthole/logs';
import { canonicalField } from '@porthole/logs/query';
import type { PrintableRecord } from '../sources/log-source.ts';
import { formatInstant } from './format-time.ts';

/** What a record has besides its fields. A field with such a name is written `context.NAME`. */
export const OWN_COLUMNS = ['time', 'node', 'file'] as const;

/** Fields that every record carries; the others are sent where they are requested. */
const BUILT_IN = ['level', 'source', 'component', 'message'] as const;

const ALWAYS_PRESENT: ReadonlySet<string> = new Set([...OWN_COLUMNS, ...BUILT_IN]);

/** Whether the column is a field that has to be requested. */
export function isField(column: string): boolean {
  return !ALWAYS_PRESENT.has(column);
}

/** Reads the columns of records, and remembers which fields none of them has: a mistyped name, perhaps. */
export class ColumnReader {
  readonly zone: Zone;
  readonly #absent: Set<string>;

  constructor(columns: readonly string[], zone: Zone) {
    this.zone = zone;
    this.#absent = new Set(columns.filter(isField));
  }

  /** Fields that no record had so far. */
  get absent(): string[] {
    return [...this.#absent];
  }

  read(record: PrintableRecord, name: string): string | undefined {
    const text = columnText(record, name, this.zone);
    if (text !== undefined) this.#absent.delete(name);
    return text;
  }
}

/** The exact text of one column; `undefined` if the record has none. Times are RFC 3339. */
export function columnText(record: PrintableRecord, name: string, zone: Zone): string | undefined {
  const { timeMs, atMs = timeMs, node, file, target = file, level, source, tags = [], message, fields } = record;
  switch (name) {
    case 'time':
      return atMs === undefined ? undefined : formatInstant(atMs, zone);
    case 'node':
      return node;
    case 'file':
      return target;
    case 'level':
      return level;
    case 'source':
      return source;
    case 'component':
      return tags.length === 0 ? undefined : tags.join(' ');
    case 'message':
      return message;
    default:
      return fields && fieldText(fields, canonicalField(name));
  }
}

/** Several values are a JSON list. */
function fieldText(fields: NonNullable<PrintableRecord['fields']>, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
}
