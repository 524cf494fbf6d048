/** The slow, obvious way: every byte of every occurrence of every needle in the whole text. */
export function slowScrub(text: Buffer, needles: readonly Buffer[]): Buffer {
  const masked = Buffer.from(text);
  for (const needle of needles) {
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
      masked.fill('*', at, at + needle.length);
    }
  }
  // The text may go on: what could be the beginning of a needle is masked where it ends.
  const open = needles.flatMap((needle) =>
    Array.from({ length: needle.length }, (_, length) => length).filter(
      (length) => length > 0 && text.length >= length && text.subarray(-length).equals(needle.subarray(0, length)),
    ),
  );
  const most = Math.max(0, ...open);
  return most >= 3 ? masked.fill('*', text.length - most) : masked;
}
