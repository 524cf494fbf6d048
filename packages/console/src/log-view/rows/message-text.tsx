import { type TextMatcher, textPieces } from '../find/text-pieces.ts';

/** Text with its colours and with its matches marked: text nodes only, whatever it says. */
export function MessageText({ text, matcher }: { text: string; matcher: TextMatcher | null }) {
  return (
    <>
      {textPieces(text, matcher).map(({ text: piece, classes: look, colours, isMatch }, index) => {
        const inner = isMatch ? <mark key={index}>{piece}</mark> : piece;
        return look === '' ? (
          inner
        ) : (
          // An object sets properties one by one, which the content security policy allows; an attribute it would not.
          <span key={index} class={look} {...(colours && { style: { ...colours } })}>
            {inner}
          </span>
        );
      })}
    </>
  );
}
