/** Only the start of a message determines its shape: beyond that, messages hardly differ in kind. */
const SHAPE_CHARACTERS = 200;

/** Words with a digit in them, and quoted text, vary from one record to the next. */
const CHANGING = /"[^"]*"|'[^']*'|[^\s=:,;()[\]{}<>"']*\d[^\s=:,;()[\]{}<>"']*/g;

/** What messages of one kind have in common: the first line with its varying parts replaced by `*`. */
export function messageShape(message: string): string {
  const [line = ''] = message.slice(0, SHAPE_CHARACTERS).split(/\r?\n/, 1);
  return line.replace(CHANGING, '*');
}
