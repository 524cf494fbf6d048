import { fieldValues } from '@porthole/logs/query';
import type { ShownRecord } from '../source/log-source.ts';
import { oneLine, visibleText } from './record-text.ts';

/* Values of fields in rows: shown in columns and chips, and picked there by a click. */

/** More of a value is neither shown nor part of its tooltip. */
const MAX_CHARACTERS = 1000;

/** More values of a field are a count. */
const MAX_VALUES = 10;

/** A value that was clicked, or several of one field. */
export interface PickedValues {
  field: string;
  values: readonly string[];
  /** The bottom left corner of what was clicked, in the window. */
  at: { x: number; y: number };
}

/** The values of a field in one line; empty if the record does not have it. */
export function columnText(record: ShownRecord, field: string): string {
  const values = fieldValues(record, field);
  const shown = values.slice(0, MAX_VALUES).map((value) => oneLine(visibleText(value.slice(0, MAX_CHARACTERS))));
  return [...shown, ...(values.length > MAX_VALUES ? [`… ${values.length - MAX_VALUES} more`] : [])].join(', ');
}

/** What a click on a part of a row picks; `null` if there is no value. */
export function pickedValues(target: Element | null, record: ShownRecord): PickedValues | null {
  const chip = target?.closest<HTMLElement>('[data-field]');
  const { field, index } = chip?.dataset ?? {};
  if (!chip || field === undefined) return null;
  const all = fieldValues(record, field);
  const values = index === undefined ? all.slice(0, MAX_VALUES) : all.slice(Number(index), Number(index) + 1);
  const { left, bottom } = chip.getBoundingClientRect();
  return values.length === 0 ? null : { field, values, at: { x: left, y: bottom } };
}
