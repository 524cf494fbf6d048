import { useEffect, useMemo, useState } from 'preact/hooks';
import { TomlText } from '../../../config/toml-text.ts';

/** Looked at before the text is first drawn; takes a few milliseconds. */
const FIRST_LINES = 600;

/** Looked at in one go after that, with pauses in which the page does what it is asked to. */
const MORE_LINES = 500;

/** The text by lines; most of a large one gets its colours a moment later. */
export function useToml(text: string): TomlText {
  const [, drawAgain] = useState(0);
  const toml = useMemo(() => {
    const fresh = new TomlText(text);
    fresh.tokenize(FIRST_LINES);
    return fresh;
  }, [text]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tokenizeMore = () => {
      if (toml.isTokenized) return;
      timer = setTimeout(() => {
        toml.tokenize(MORE_LINES);
        // Once, at the end: drawing a large text costs more than looking at it.
        if (toml.isTokenized) drawAgain((times) => times + 1);
        else tokenizeMore();
      });
    };
    tokenizeMore();
    return () => clearTimeout(timer);
  }, [toml]);
  return toml;
}
