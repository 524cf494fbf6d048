/**
 * Characters that a page or a terminal acts on or does not show at all: controls, other line ends, marks that turn the
 * direction of text around, zero-width ones, tags and other ignorable code points, halves of a character. The first
 * group holds what is part of an emoji and shows as such: its joiner and its variation selector.
 */
const HIDDEN =
  /((?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?)(?:\ufe0f?\u200d(?=\p{Extended_Pictographic})|\ufe0f))|[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Most text has nothing but these. */
const PLAIN = /^[\n\t -~]*$/;

/**
 * Shows every character that could hide something: a log is written by anyone, and a line must not say something else
 * than it shows. Newlines and tabs stay.
 */
export function showHidden(text: string, show: (character: string) => string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(HIDDEN, (found, emoji: string | undefined) =>
    emoji !== undefined || found === '\n' || found === '\t' ? found : show(found),
  );
}
