/** Halves of surrogate pairs without the other half, which JSON in a log line can hold (`"\ud83d"`). */
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Text that can be written as UTF-8: strict clients give up a whole message for one bad string in it. */
export function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATES, '\ufffd');
}
