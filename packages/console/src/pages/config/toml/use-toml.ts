import { useEffect, useMemo, useState } from 'preact/hooks';
import { TomlText } from '../../../config/toml-text.ts';

/** Lines tokenized before the first render; takes a few milliseconds. */
const FIRST_LINES = 600;

/** Lines tokenized per step after that, with pauses for input. */
const MORE_LINES = 500;

/** The text by lines; most of a large one is highlighted shortly after the first render. */
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
        // Once, at the end: rendering a large text costs more than tokenizing it.
        if (toml.isTokenized) drawAgain((times) => times + 1);
        else tokenizeMore();
      });
    };
    tokenizeMore();
    return () => clearTimeout(timer);
  }, [toml]);
  return toml;
}
