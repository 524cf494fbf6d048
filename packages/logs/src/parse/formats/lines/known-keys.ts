/** What a key of a JSON or logfmt record means. */
export type KeyKind = 'time' | 'level' | undefined;

export const TIME_KEYS = ['time', 'ts', 'timestamp', '@timestamp', 't', '@t', 'date'];
export const LEVEL_KEYS = ['level', 'lvl', 'severity', 'levelname', 'log.level', '@l'];
export const MESSAGE_KEYS = ['msg', 'message', 'log', '@m', '@mt', 'renderedmessage', 'messagetemplate', 'event'];
export const SOURCE_KEYS = ['caller', 'source'];
export const TAG_KEYS = ['logger', 'component', 'name', 'module', 'subsys'];

interface KnownKey {
  text: Buffer;
  kind: KeyKind;
}

/** Few keys have the same length, so most are distinguished without comparing their letters. */
const KEYS_BY_LENGTH: KnownKey[][] = [];
for (const [kind, keys] of [['time', TIME_KEYS] as const, ['level', LEVEL_KEYS] as const]) {
  for (const key of keys) {
    KEYS_BY_LENGTH[key.length] ??= [];
    KEYS_BY_LENGTH[key.length]?.push({ text: Buffer.from(key), kind });
  }
}
const MAX_LENGTH = KEYS_BY_LENGTH.length - 1;
for (let length = 0; length <= MAX_LENGTH; length++) KEYS_BY_LENGTH[length] ??= [];

/** Whether a key is a time or a level, in any case: .NET writes `Timestamp` and `Level`. */
export function keyKind(bytes: Buffer, start: number, end: number): KeyKind {
  const length = end - start;
  if (length < 1 || length > MAX_LENGTH) return undefined;
  const candidates = KEYS_BY_LENGTH[length];
  if (!candidates) return undefined;
  for (let index = 0; index < candidates.length; index++) {
    const candidate = candidates[index];
    if (candidate && isSame(bytes, start, candidate.text)) return candidate.kind;
  }
  return undefined;
}

function isSame(bytes: Buffer, start: number, text: Buffer): boolean {
  for (let index = 0; index < text.length; index++) {
    const byte = bytes[start + index] ?? 0;
    const lower = byte >= 65 && byte <= 90 ? byte | 0x20 : byte;
    if (lower !== text[index]) return false;
  }
  return true;
}
