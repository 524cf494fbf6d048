/** One row of RFC 4180, with its line break. An absent value is empty, an empty text is `""`. */
export function csvRow(cells: readonly (string | undefined)[]): string {
  const row = cells.map((text) => (text === undefined ? '' : csvCell(text))).join(',');
  // An empty line would be read as no row.
  return `${row === '' ? '""' : row}\r\n`;
}

function csvCell(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
