import type { FlatSetting } from '@porthole/server/config';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';

/** `http.port = 7300`. The value is JSON: always one line, and its type is visible. */
export function settingLine({ key, value }: Pick<FlatSetting, 'key' | 'value'>, { colors, isTty }: Terminal): string {
  const shown = isTty ? visibleText : (text: string) => text;
  return `${colors.cyan(shown(key))} = ${shown(JSON.stringify(value))}\n`;
}
