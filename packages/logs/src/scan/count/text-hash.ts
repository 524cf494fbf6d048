const FIRST = 0x811c9dc5;
const PRIME = 0x01000193;

/** 32 bits that look random, for each seed others: FNV-1a over the text's code units, mixed as MurmurHash ends. */
export function textHash(text: string, seed: number): number {
  let hash = FIRST ^ seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return mix(hash);
}

/** The same over the bytes `[start, end)`. */
export function bytesHash(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = FIRST ^ seed;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), PRIME);
  return mix(hash);
}

function mix(unmixed: number): number {
  let hash = unmixed;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
