/**
 * What a spreadsheet takes for the start of a formula: one of `= + - @`, also their full-width forms, behind whatever it
 * drops (blanks, control characters, quotes); or a tab or line break, which some take for the end of the cell.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}"']*[=+\-@\uff1d\uff0b\uff0d\uff20])/u;

/** Numbers, and the `-` of access logs, are what they are; as texts, nothing could be calculated from them. */
const PLAIN = /^\s*(?:-|[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)\s*$/i;

/**
 * One row of RFC 4180, with its line break. An absent value is empty, an empty text is `""`. A text that a spreadsheet
 * would calculate gets an apostrophe in front: log lines are written by whoever sends requests.
 */
export function csvRow(cells: readonly (string | undefined)[]): string {
  const row = cells.map((text) => (text === undefined ? '' : csvCell(text))).join(',');
  // An empty line would be read as no row.
  return `${row === '' ? '""' : row}\r\n`;
}

function csvCell(text: string): string {
  const inert = FORMULA.test(text) && !PLAIN.test(text) ? `'${text}` : text;
  return inert === '' || /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
