import type { ShownRecord } from '../source/log-source.ts';

/** The text of a record in which the API looks: its lines as they stand in the file. */
export function searchableText({ raw, message }: ShownRecord): string {
  return raw ?? message;
}
