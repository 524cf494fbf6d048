import { groupOf, type ValueGroup } from './top-table.ts';
import { NO_ID, ValueTable } from './value-table.ts';

const MAX_GROUPS = 4096;

/** Longer tags are split each time. */
const MAX_BYTES = 256;

/** The tags of records by their bytes: most records have the same few. */
export class TagGroups {
  readonly #table = new ValueTable();
  readonly #groups: ValueGroup[] = [];

  /** The tags in `[start, end)`, brackets included. */
  find(bytes: Buffer, start: number, end: number): ValueGroup {
    const known = end - start > MAX_BYTES ? NO_ID : this.#table.find(bytes, start, end);
    const group = this.#groups[known] ?? groupOf(splitTags(bytes, start, end));
    if (known !== NO_ID || end - start > MAX_BYTES) return group;
    if (this.#groups.length >= MAX_GROUPS) {
      this.#table.clear();
      this.#groups.length = 0;
      return group;
    }
    this.#table.add(bytes, start, end);
    this.#groups.push(group);
    return group;
  }
}

/** As `decodeRecord` does. */
function splitTags(bytes: Buffer, start: number, end: number): string[] {
  return bytes.toString('utf8', start + 1, end - 1).split(/\] ?\[/);
}
