import { parseUserFormats, type UserFormat } from '@porthole/logs';
import type { SettingKind } from './setting-kinds.ts';
import { escapeUnprintable, tomlLiteral } from './show-value.ts';

/**
 * Log formats, each kept as its JSON text: a list of texts is compared, copied and reported like any other. A file has
 * them as tables; environment variables and flags as JSON.
 */
export const formatList: SettingKind<string[]> = {
  name: 'list of formats',
  noun: 'a list of log formats',
  accepted: 'tables with name, lines and times',
  limits: '',
  shape: 'list',
  read(value, { form }) {
    const given = form === 'text' ? parseJsonList(String(value)) : value;
    if (given === undefined) return { refused: 'not valid JSON' };
    const { formats, problems } = parseUserFormats(given);
    if (problems.length > 0) return { refused: escapeUnprintable(problems.join('; ')) };
    return { value: formats.map(formatText) };
  },
  toJson: (texts) => [...texts],
  toToml: (texts) => tomlLiteral(texts.map((text) => JSON.parse(text))),
};

/** The formats of a valid setting. */
export function readFormats(texts: readonly string[]): UserFormat[] {
  return parseUserFormats(texts).formats;
}

/** A list, or the items of one: a flag may be repeated. */
function parseJsonList(text: string): unknown[] | undefined {
  try {
    return (JSON.parse(`[${text}]`) as unknown[]).flat();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function formatText({ levels, samples, ...format }: UserFormat): string {
  const hasLevels = Object.keys(levels).length > 0;
  return JSON.stringify({ ...format, ...(hasLevels && { levels }), ...(samples.length > 0 && { samples }) });
}
