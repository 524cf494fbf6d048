/** A run of text that looks the same. `look` has class names of the page's own style, never anything from the text. */
export interface AnsiSegment {
  text: string;
  look: readonly string[];
}

/**
 * Colours and other commands for terminals: CSI, OSC (titles, links) and single ones, also with their one-byte
 * introducers. Linear: no part of it can match in two ways.
 */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~])|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]/g;

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

interface Look {
  colour: string | null;
  isBold: boolean;
  isDim: boolean;
  isItalic: boolean;
  isUnderlined: boolean;
}

const PLAIN: Look = { colour: null, isBold: false, isDim: false, isItalic: false, isUnderlined: false };

/** The text without what only a terminal understands. */
export function stripAnsi(text: string): string {
  return hasAnsi(text) ? text.replace(ESCAPES, '') : text;
}

export function hasAnsi(text: string): boolean {
  return text.includes('\u001b') || text.includes('\u009b') || text.includes('\u009d');
}

/** The text in runs with the classes `ansi-red`, `ansi-bold` ...; whatever else it asks a terminal to do is left out. */
export function ansiSegments(text: string): AnsiSegment[] {
  if (!hasAnsi(text)) return [{ text, look: [] }];
  const segments: AnsiSegment[] = [];
  let look = PLAIN;
  let done = 0;
  const add = (end: number) => {
    if (end > done) segments.push({ text: text.slice(done, end), look: classesOf(look) });
  };
  for (const { 0: whole, 1: parameters, 2: command, index } of text.matchAll(ESCAPES)) {
    add(index);
    done = index + whole.length;
    if (command === 'm') look = changed(look, parameters ?? '');
  }
  add(text.length);
  return segments;
}

function changed(look: Look, parameters: string): Look {
  let next = look;
  const codes = parameters.split(/[;:]/).map((code) => (code === '' ? 0 : Number(code)));
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] ?? 0;
    // What follows names a colour out of 256 or by its parts, which the page has no class for.
    if (code === 38 || code === 48) index += codes[index + 1] === 5 ? 2 : 4;
    else next = withCode(next, code);
  }
  return next;
}

function withCode(look: Look, code: number): Look {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...look, isBold: true };
  if (code === 2) return { ...look, isDim: true };
  if (code === 3) return { ...look, isItalic: true };
  if (code === 4) return { ...look, isUnderlined: true };
  if (code === 22) return { ...look, isBold: false, isDim: false };
  if (code === 23) return { ...look, isItalic: false };
  if (code === 24) return { ...look, isUnderlined: false };
  if (code === 39) return { ...look, colour: null };
  const colour = COLOURS[code >= 90 ? code - 90 : code - 30];
  return colour === undefined ? look : { ...look, colour };
}

function classesOf({ colour, isBold, isDim, isItalic, isUnderlined }: Look): string[] {
  return [
    ...(colour === null ? [] : [`ansi-${colour}`]),
    ...(isBold ? ['ansi-bold'] : []),
    ...(isDim ? ['ansi-dim'] : []),
    ...(isItalic ? ['ansi-italic'] : []),
    ...(isUnderlined ? ['ansi-underline'] : []),
  ];
}
