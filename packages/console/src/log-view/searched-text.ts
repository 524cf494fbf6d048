import type { ShownRecord } from './log-source.ts';

/** The text of a record in which the API looks: its lines as they stand in the file. */
export function searchedText({ raw, message }: ShownRecord): string {
  return raw ?? message;
}
