/**
 * How values are compared ignoring case: if the wanted text is ASCII, only A to Z fold, so that bytes can be searched
 * for it; otherwise all letters do.
 */
export function caseFolder(wanted: string): (text: string) => string {
  return isAsciiText(wanted) ? foldAscii : foldAll;
}

export function isAsciiText(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

/** Of ASCII text, `toLowerCase` does nothing else and is faster. */
function foldAscii(text: string): string {
  return isAsciiText(text) ? text.toLowerCase() : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function foldAll(text: string): string {
  return text.toLowerCase();
}
