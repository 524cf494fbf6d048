/**
 * A run of text with one style. `classes` contains class names of the page's own style, never anything from the text;
 * `colours` are values for the custom properties that `ansi-rgb` and `ansi-fill` use, built from numbers.
 */
export interface AnsiSegment {
  text: string;
  classes: readonly string[];
  colours?: Readonly<AnsiColours>;
}

/** `#rrggbb` each. */
export interface AnsiColours {
  '--ansi'?: string;
  '--ansi-fill'?: string;
}

/**
 * Terminal escape sequences: CSI, OSC (titles, links) and single ones, also with their one-byte introducers. Linear
 * time: no part can match in two ways.
 */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~])|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]/g;

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/** Backgrounds are drawn as a tint only, so they need not be theme colours. */
const FILLS: Readonly<Record<string, string>> = {
  black: '#000000',
  red: '#cd3131',
  green: '#0dbc79',
  yellow: '#e5e510',
  blue: '#2472c8',
  magenta: '#bc3fbc',
  cyan: '#11a8cd',
  white: '#e5e5e5',
};

interface AnsiStyle {
  /** One of the eight colours by name, others as `#rrggbb`. */
  colour: string | null;
  /** Background, always as `#rrggbb`. */
  fill: string | null;
  isBold: boolean;
  isDim: boolean;
  isItalic: boolean;
  isUnderlined: boolean;
}

const PLAIN: AnsiStyle = {
  colour: null,
  fill: null,
  isBold: false,
  isDim: false,
  isItalic: false,
  isUnderlined: false,
};

/** The text without escape sequences. */
export function stripAnsi(text: string): string {
  return hasAnsi(text) ? text.replace(ESCAPES, '') : text;
}

export function hasAnsi(text: string): boolean {
  return text.includes('\u001b') || text.includes('\u009b') || text.includes('\u009d');
}

/** Runs of text with the classes `ansi-red`, `ansi-bold` ...; other escape sequences are dropped. */
export function ansiSegments(text: string): AnsiSegment[] {
  if (!hasAnsi(text)) return [{ text, classes: [] }];
  const segments: AnsiSegment[] = [];
  let style = PLAIN;
  let done = 0;
  const add = (end: number) => {
    if (end > done)
      segments.push({ text: text.slice(done, end), classes: styleClasses(style), ...customColours(style) });
  };
  for (const { 0: whole, 1: parameters, 2: command, index } of text.matchAll(ESCAPES)) {
    add(index);
    done = index + whole.length;
    if (command === 'm') style = changed(style, parameters ?? '');
  }
  add(text.length);
  return segments;
}

/** Parameters of one sequence; one with colons has its own arguments, one with semicolons takes those that follow. */
function changed(style: AnsiStyle, parameters: string): AnsiStyle {
  let next = style;
  const groups = parameters.split(';');
  for (let index = 0; index < groups.length; index++) {
    const [code = 0, ...own] = (groups[index] ?? '').split(':').map(Number);
    if (code !== 38 && code !== 48 && code !== 58) {
      next = withCode(next, code === 4 && own[0] === 0 ? 24 : code);
      continue;
    }
    const isOwn = own.length > 0;
    // `38:2::r:g:b` has an empty colour space.
    const args = isOwn ? (own.length > 4 ? [own[0], ...own.slice(2)] : own) : groups.slice(index + 1).map(Number);
    const [kind, ...numbers] = args;
    const colour = kind === 5 ? paletteColour(numbers[0]) : kind === 2 ? rgbText(numbers.slice(0, 3)) : null;
    if (!isOwn) index += kind === 5 ? 2 : kind === 2 ? 4 : 0;
    if (code === 38) next = { ...next, colour };
    if (code === 48) next = { ...next, fill: COLOURS.includes(colour ?? '') ? (FILLS[colour ?? ''] ?? null) : colour };
  }
  return next;
}

/** One of 256 colours: the eight, the eight bright ones, a 6 x 6 x 6 cube, shades of grey. */
function paletteColour(number = Number.NaN): string | null {
  if (!isByte(number)) return null;
  if (number < 16) return COLOURS[number % 8] ?? null;
  if (number >= 232) return rgbText(Array<number>(3).fill(8 + (number - 232) * 10));
  const cube = number - 16;
  return rgbText([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((step) => step && 55 + step * 40));
}

function rgbText(parts: readonly (number | undefined)[]): string | null {
  if (parts.length !== 3 || !parts.every(isByte)) return null;
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

function isByte(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value >= 0 && value <= 255;
}

function withCode(style: AnsiStyle, code: number): AnsiStyle {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...style, isBold: true };
  if (code === 2) return { ...style, isDim: true };
  if (code === 3) return { ...style, isItalic: true };
  if (code === 4) return { ...style, isUnderlined: true };
  if (code === 22) return { ...style, isBold: false, isDim: false };
  if (code === 23) return { ...style, isItalic: false };
  if (code === 24) return { ...style, isUnderlined: false };
  if (code === 39) return { ...style, colour: null };
  if (code === 49) return { ...style, fill: null };
  const colour = COLOURS[code >= 90 ? code - 90 : code - 30];
  if (colour !== undefined) return { ...style, colour };
  const fill = FILLS[COLOURS[code >= 100 ? code - 100 : code - 40] ?? ''];
  return fill === undefined ? style : { ...style, fill };
}

function customColours({ colour, fill }: AnsiStyle): Pick<AnsiSegment, 'colours'> {
  const text = colour?.startsWith('#') ? colour : undefined;
  if (text === undefined && fill === null) return {};
  return { colours: { ...(text !== undefined && { '--ansi': text }), ...(fill !== null && { '--ansi-fill': fill }) } };
}

function styleClasses({ colour, fill, isBold, isDim, isItalic, isUnderlined }: AnsiStyle): string[] {
  return [
    ...(colour === null ? [] : [colour.startsWith('#') ? 'ansi-rgb' : `ansi-${colour}`]),
    ...(fill === null ? [] : ['ansi-fill']),
    ...(isBold ? ['ansi-bold'] : []),
    ...(isDim ? ['ansi-dim'] : []),
    ...(isItalic ? ['ansi-italic'] : []),
    ...(isUnderlined ? ['ansi-underline'] : []),
  ];
}
