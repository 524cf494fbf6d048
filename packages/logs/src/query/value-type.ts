import type { FieldType } from './count-types.ts';
import { parseQuantity } from './quantity.ts';

/** What a value of a field looks like. */
export function valueType(text: string, field?: string): FieldType {
  if (field === 'level') return 'level';
  const first = text.charCodeAt(0);
  if (first === 45 || (first >= 48 && first <= 57)) return parseQuantity(text)?.kind ?? 'text';
  return text === 'true' || text === 'false' ? 'boolean' : 'text';
}
