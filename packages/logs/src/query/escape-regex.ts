/** A text as a regular expression that matches just it, in RE2 and in JavaScript, also with the flag `u`. */
export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}
