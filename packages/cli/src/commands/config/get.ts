import { existsSync } from 'node:fs';
import { markToml, pickToml } from '@porthole/server/config';
import { EXIT } from '../../exit-codes.ts';
import type { Invocation } from '../../invocation.ts';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';
import { isUrl } from '../../sources/open-node.ts';
import { type ConfigDocument, isMemberRef, readConfig } from './config-document.ts';
import { nestSettings } from './nest-settings.ts';
import { paintToml } from './paint-toml.ts';
import { type Selection, selectSettings } from './select-settings.ts';
import { settingLine } from './setting-line.ts';

export async function run(invocation: Invocation): Promise<number> {
  const { args, terminal } = invocation;
  const [first = ''] = args;
  const where = isUrl(first) || isMemberRef(first) || isFile(first) ? first : undefined;
  const keys = where === undefined ? args : args.slice(1);
  const document = await readConfig(invocation, where);
  const selection = selectSettings(document.settings, keys);
  const output = invocation.text('output') ?? 'toml';
  if (selection.settings.length > 0 || keys.length === 0)
    await terminal.write(render(output, { document, selection, terminal, isWhole: keys.length === 0 }));
  for (const { key, near } of selection.unknown) {
    const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
    terminal.note(`no key or table ${visibleText(key)} in the configuration of ${document.name}${hint}`);
  }
  if (document.staleness !== undefined) terminal.warn(visibleText(document.staleness));
  if (selection.unknown.length > 0) return EXIT.different;
  return document.staleness === undefined ? EXIT.ok : EXIT.partial;
}

/** Keys contain no slash outside quotes; a word without one is a file if it ends with .toml and exists. */
function isFile(text: string): boolean {
  if (/^[^"]*[/\\]/.test(text) || text === '.' || text === '..') return true;
  return text.endsWith('.toml') && existsSync(text);
}

interface Rendering {
  document: ConfigDocument;
  selection: Selection;
  terminal: Terminal;
  isWhole: boolean;
}

function render(output: string, { document, selection, terminal, isWhole }: Rendering): string {
  if (output === 'json') return `${JSON.stringify(nestSettings(selection.settings), null, 2)}\n`;
  if (output === 'flat') return selection.settings.map((setting) => settingLine(setting, terminal)).join('');
  const text = isWhole ? document.text : pickToml(document.text, selection.isWanted);
  // Piped without colours: byte for byte.
  if (!terminal.isTty && !terminal.colors.isColorSupported) return text;
  return paintToml(text, markToml(text), terminal);
}
