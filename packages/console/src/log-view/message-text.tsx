import { type TextMatcher, textPieces } from './text-pieces.ts';

/** Text with its colours and with its matches marked: text nodes only, whatever it says. */
export function MessageText({ text, matcher }: { text: string; matcher: TextMatcher | null }) {
  return (
    <>
      {textPieces(text, matcher).map(({ text: piece, look, isMatch }, index) => {
        const inner = isMatch ? <mark key={index}>{piece}</mark> : piece;
        return look === '' ? (
          inner
        ) : (
          <span key={index} class={look}>
            {inner}
          </span>
        );
      })}
    </>
  );
}
