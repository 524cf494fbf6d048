/** Lone surrogates, which JSON in a log line can contain (`"\ud83d"`). */
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Text that can be encoded as UTF-8: strict clients reject a whole message for one invalid string. */
export function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATES, '\ufffd');
}
