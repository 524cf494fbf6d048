/** The fields of a record of comma-separated values; one in quotes may contain commas, doubled quotes and newlines. */
export function readCsvFields(text: string): string[] {
  const fields: string[] = [];
  // Every alternative starts with another character, so matching takes linear time.
  const field = /"((?:[^"]|"")*)"?|([^,]*)/y;
  for (let at = 0; at <= text.length; at = field.lastIndex + 1) {
    field.lastIndex = at;
    const [, quoted, plain = ''] = field.exec(text) ?? [];
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    const comma = text.indexOf(',', field.lastIndex);
    if (comma < 0) break;
    field.lastIndex = comma;
  }
  return fields;
}
