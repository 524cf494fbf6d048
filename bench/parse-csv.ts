/** The rows of a CSV text, with quoted fields. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const FIELD = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/y;
  while (FIELD.lastIndex < text.length) {
    const [, quoted, plain = '', end] = FIELD.exec(text) ?? [];
    if (end === undefined) throw new Error(`invalid CSV after ${rows.length} rows`);
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}
