import type { TomlMark } from '@porthole/server/config';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';

/** Colours comments, keys and tables, and escapes characters a terminal would act on. */
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
