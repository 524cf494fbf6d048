import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';

const request = (status: number, uri: string) =>
  `10.0.0.1 - - [15/Nov/2026:10:00:00 +0000] "GET ${uri} HTTP/1.1" ${status} 12 "-" "curl/8.0"\n`;

/** A batch of two records, the second of which is an error. */
const batch = (bytes: number) =>
  `{"resourceLogs":[{"resource":{},"scopeLogs":[{"scope":{},"logRecords":[${[9, 17]
    .map((severityNumber, at) => {
      const body = at === 0 ? 'x'.repeat(bytes) : 'y';
      return `{"timeUnixNano":"1794700800000000000","body":{"stringValue":"${body}"},"severityNumber":${severityNumber}}`;
    })
    .join()}]}]}]}\n`;

test.each([
  ['an access log, of a request with a long URI', request(200, '/').repeat(20), request(500, `/${'a'.repeat(6000)}`)],
  ['OTLP, of a large batch', batch(10).replace(':17', ':9').repeat(20), batch(60_000)],
])('a search for errors finds the one of %s', async (_name, others, line) => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log'), others + line + others);
  const { records } = await runSearch(openDir(dir), { minLevel: 'ERROR' });
  expect(records.map(({ offset, level }) => [offset, level])).toEqual([[others.length, 'ERROR']]);
});
