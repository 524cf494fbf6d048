/** Shorter texts stand in ordinary words: masking them would ruin the log and tell more than it hides. */
export const MIN_NEEDLE_BYTES = 6;

/** Longer forms are looked for in pieces, so that a token that was cut off when it was logged is masked as far as it goes. */
export const MAX_NEEDLE_BYTES = 64;

/**
 * The texts a secret value is known by in a log: as it is, line by line where it has several, and as base64 of a text it
 * is a part of. Each is recognised with any of its signs escaped, too (`EscapedNeedles`): one with line ends only so.
 * None is longer than `MAX_NEEDLE_BYTES`.
 */
export function needleForms(value: string): Buffer[] {
  if (Buffer.byteLength(value) < MIN_NEEDLE_BYTES) return [];
  const texts = new Set([value, ...splitLines(value), ...base64Forms(Buffer.from(value))]);
  return [...texts].flatMap((text) => splitPieces(Buffer.from(text)));
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
function splitLines(text: string): string[] {
  if (!/[\r\n]/.test(text)) return [text];
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => !line.startsWith('-----'));
}

function splitPieces(bytes: Buffer): Buffer[] {
  if (bytes.length < MIN_NEEDLE_BYTES) return [];
  const pieces: Buffer[] = [];
  let start = 0;
  while (bytes.length - start > MAX_NEEDLE_BYTES) {
    const end = characterStart(bytes, start + MAX_NEEDLE_BYTES);
    pieces.push(bytes.subarray(start, end));
    start = end;
  }
  // The last one is about as long as the others: what is left may be too short.
  const last = start > 0 ? Math.min(start, characterStart(bytes, bytes.length - MAX_NEEDLE_BYTES + 3)) : 0;
  pieces.push(bytes.subarray(last));
  return pieces;
}

/** At or before a position: an escape stands for a whole character. */
function characterStart(bytes: Buffer, position: number): number {
  let start = position;
  while (start > position - 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}
