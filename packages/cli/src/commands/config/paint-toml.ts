import type { TomlMark } from '@porthole/server/config';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';

/** The text for people to look at: comments dim, keys and tables in colour, nothing in it that drives a terminal. */
export function paintToml(text: string, marks: readonly TomlMark[], { colors, isTty }: Terminal): string {
  const paint = {
    comment: colors.dim,
    key: colors.cyan,
    table: (name: string) => colors.bold(colors.cyan(name)),
  };
  const shown = isTty ? (part: string) => visibleText(part.replaceAll('\r\n', '\n')) : (part: string) => part;
  let painted = '';
  let from = 0;
  for (const { start, end, kind } of marks) {
    painted += shown(text.slice(from, start)) + paint[kind](shown(text.slice(start, end)));
    from = end;
  }
  return painted + shown(text.slice(from));
}
