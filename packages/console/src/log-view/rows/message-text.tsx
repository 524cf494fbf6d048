import { type TextMatcher, textPieces } from '../find/text-pieces.ts';

/** Text with colours and highlighted matches: rendered as text nodes only. */
export function MessageText({ text, matcher }: { text: string; matcher: TextMatcher | null }) {
  return (
    <>
      {textPieces(text, matcher).map(({ text: piece, classes, colours, isMatch }, index) => {
        const inner = isMatch ? <mark key={index}>{piece}</mark> : piece;
        return classes === '' ? (
          inner
        ) : (
          // An object sets properties one by one, which the content security policy allows; a style attribute it would
          // block.
          <span key={index} class={classes} {...(colours && { style: { ...colours } })}>
            {inner}
          </span>
        );
      })}
    </>
  );
}
