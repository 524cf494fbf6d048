/** Shorter texts stand in ordinary words: masking them would ruin the log and tell more than it hides. */
export const MIN_NEEDLE_BYTES = 6;

/** Longer forms are looked for in pieces, so that a token that was cut off when it was logged is masked as far as it goes. */
export const MAX_NEEDLE_BYTES = 64;

/**
 * The texts a secret value is known by in a log: as it is, encoded for a URL once and twice, as base64 of a text it is a
 * part of, escaped as in JSON once and twice. None holds a line end, none is longer than `MAX_NEEDLE_BYTES`.
 */
export function formsOf(value: string): Buffer[] {
  if (Buffer.byteLength(value) < MIN_NEEDLE_BYTES) return [];
  const texts = new Set<string>();
  for (const text of [value, ...urlForms(value), ...jsonForms(value), ...base64Forms(Buffer.from(value))]) {
    for (const line of linesOf(text)) texts.add(line);
  }
  return [...texts].flatMap((text) => piecesOf(Buffer.from(text)));
}

/** Both cases of the digits, the blank as `+` too, and what browsers and form encoders leave as it is or not. */
function urlForms(value: string): string[] {
  // A lone surrogate cannot be encoded, and cannot stand in a URL either.
  if (/\p{Surrogate}/u.test(value)) return [];
  const plain = encodeURIComponent(value);
  const strict = plain.replace(/[!'()*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const once = [plain, strict, ...[plain, strict].map((form) => form.replaceAll('%20', '+'))];
  const both = once.flatMap((form) => [form, withLowerDigits(form)]);
  return [...both, ...both.map((form) => form.replaceAll('%', '%25'))];
}

function withLowerDigits(form: string): string {
  return form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

/** As browsers and Node write it, as Go does (`<`, `>` and `&` as codes), with slashes escaped, and in plain ASCII. */
function jsonForms(value: string): string[] {
  const plain = inJson(value);
  const once = [plain, plain.replaceAll('/', '\\/'), plain.replace(/[<>&\u2028\u2029]/g, asCode)];
  const all = [...once, ...once.map((form) => form.replace(/[^\0-\x7e]/g, asCode))];
  return [...all, ...all.map(inJson)];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function asCode(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A text in base64 looks different by how many bytes stand before it; signs that hold bits of those are left out. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const whole = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** A value of several lines is written line by line. The first and last line of every PEM text are the same. */
function linesOf(text: string): string[] {
  if (!/[\r\n]/.test(text)) return [text];
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => !line.startsWith('-----'));
}

function piecesOf(bytes: Buffer): Buffer[] {
  if (bytes.length < MIN_NEEDLE_BYTES) return [];
  const pieces: Buffer[] = [];
  for (let start = 0; start + MAX_NEEDLE_BYTES < bytes.length; start += MAX_NEEDLE_BYTES) {
    pieces.push(bytes.subarray(start, start + MAX_NEEDLE_BYTES));
  }
  pieces.push(bytes.subarray(-MAX_NEEDLE_BYTES));
  return pieces;
}
