import type { SearchItem, SearchQuery } from '../types.ts';
import type { OpenFamily } from './files/open-family.ts';
import type { ScanContext } from './scan-context.ts';
import { searchRecords } from './search-records.ts';
import type { SearchOptions } from './stop-reason.ts';
import { withContext } from './with-context.ts';

/**
 * Emits the matching records of some families, as lines of JSON, several at a time as they are found; the last line is
 * the end. An empty chunk comes first, as soon as the query has been validated. Takes ownership of the families and
 * releases them.
 */
export function searchLines(
  scanContext: ScanContext,
  families: readonly OpenFamily[],
  query: SearchQuery,
  options: SearchOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  return searchRecords(scanContext, families, {
    query,
    options,
    output: {
      asText: false,
      records: (taken, checked, stop) =>
        taken.length === 0 ? [Buffer.alloc(0)] : withContext(scanContext, families, checked, { taken, stop }),
      end: (end) => [Buffer.from(`${JSON.stringify(end)}\n`)],
    },
  });
}

/** The items of a batch of `searchLines`. */
export function parseLines(lines: Buffer): SearchItem[] {
  const texts = lines.toString().split('\n').slice(0, -1);
  return texts.map((text) => JSON.parse(text) as SearchItem);
}
