/** Shorter texts occur in ordinary words: masking them would ruin the log and reveal more than it hides. */
export const MIN_NEEDLE_BYTES = 6;

/**
 * Longer forms are split into pieces, so that a token that was truncated when it was logged is masked as far as it
 * goes.
 */
export const MAX_NEEDLE_BYTES = 64;

/**
 * The texts by which a secret value is recognised in a log: literally, line by line if it has several, and as base64 of
 * a text that contains it. Each is also recognised with any of its characters escaped (`EscapedNeedles`); one with line
 * ends only that way. None is longer than `MAX_NEEDLE_BYTES`.
 */
export function needleForms(value: string): Buffer[] {
  if (Buffer.byteLength(value) < MIN_NEEDLE_BYTES) return [];
  const texts = new Set([value, ...splitLines(value), ...base64Forms(Buffer.from(value))]);
  return [...texts].flatMap((text) => splitPieces(Buffer.from(text)));
}

/**
 * The base64 form of a text depends on how many bytes precede it; characters that contain bits of those are left out.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const whole = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** A multi-line value is logged line by line. The first and last line are the same in every PEM text. */
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
  // The last one is about as long as the others: the remainder may be too short.
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
