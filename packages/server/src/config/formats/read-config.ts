import type { ConfigFormat } from '@porthole/contract';
import {
  type ConfigDocument,
  type ConfigLanguage,
  DocumentBuilder,
  FormatError,
  formatOfName,
} from './config-document.ts';
import { BLOCKS } from './read-blocks.ts';
import { JSON_TEXT } from './read-json.ts';
import { ENV, INI, KEY_VALUE, POSTGRESQL, PROPERTIES } from './read-lines.ts';
import { TOML } from './read-toml.ts';
import { XML } from './read-xml.ts';
import { TomlError } from './toml-error.ts';

/** A text that is shown as it is, without all that may be a secret: what its structure would show is not known. */
const TEXT: ConfigLanguage = {
  plainMask: '******',
  hasDirectives: false,
  hasLooseComments: false,
  repeatsAdd: false,
  statement: /(?!)/,
  read(text) {
    const builder = new DocumentBuilder(text);
    const node = builder.leaf(['text'], { start: 0, end: text.length }, { value: text });
    node.leaf.isLines = true;
    builder.entries.push({ names: ['text'], node });
    return builder.build(TEXT);
  },
  readPart: () => undefined,
};

/** The text of a file of secrets. */
const SECRET_TEXT: ConfigLanguage = {
  ...TEXT,
  isSecret: true,
  read: (text) => ({ ...TEXT.read(text), language: SECRET_TEXT }),
};

const LANGUAGES: Readonly<Record<Exclude<ConfigFormat, 'yaml'>, ConfigLanguage>> = {
  ...{ toml: TOML, json: JSON_TEXT, ini: INI, properties: PROPERTIES, env: ENV, postgresql: POSTGRESQL },
  ...{ 'key-value': KEY_VALUE, nginx: BLOCKS, xml: XML, text: TEXT },
};

/** A text and what it was read as. */
export interface ReadText {
  format: ConfigFormat;
  document: ConfigDocument;
  /** The format is that of its content alone: it may be another one that looks like it. */
  isGuess?: true;
  /** Why it is shown as text although another format was expected. */
  problem?: string;
}

interface ReadOptions {
  wanted?: ConfigFormat | undefined;
  /** The name of the file says that what is in it is secret: as text, nothing of it is shown. */
  isSecret: boolean;
}

/**
 * Parses a configuration. The format is that of its name or else of its content. What is no configuration in a known
 * format is text. Throws `TomlError` only: a TOML file with an error is one that its service cannot read either.
 */
export async function readConfig(path: string, text: string, { wanted, isSecret }: ReadOptions): Promise<ReadText> {
  const named = wanted ?? formatOfName(path);
  if (named === undefined) return { ...(await detect(text, isSecret)), isGuess: true };
  if (named === 'text') return readText(text, isSecret);
  try {
    return { format: named, document: (await loadLanguage(named)).read(text) };
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return { ...readText(text, isSecret), problem: `it cannot be read as ${named}: ${error.message}` };
  }
}

function readText(text: string, isSecret: boolean): ReadText {
  return { format: 'text', document: (isSecret ? SECRET_TEXT : TEXT).read(text) };
}

async function loadLanguage(format: ConfigFormat): Promise<ConfigLanguage> {
  if (format !== 'yaml') return LANGUAGES[format];
  // Loaded on demand: most nodes need none.
  return (await import('./read-yaml.ts')).YAML;
}

/** The first format that the text is of, the strictest first. */
async function detect(text: string, isSecret: boolean): Promise<ReadText> {
  for (const format of candidates(text)) {
    try {
      const document = (await loadLanguage(format)).read(text);
      if (format !== 'yaml' || hasPlainKeys(document)) return { format, document };
    } catch (error) {
      if (!(error instanceof FormatError || error instanceof TomlError)) throw error;
    }
  }
  return readText(text, isSecret);
}

/** A sentence with a colon is YAML too, with a key of several words. */
function hasPlainKeys({ tables }: ConfigDocument): boolean {
  return tables.every(({ entries }) => entries.every(({ names }) => names.every((name) => /^[^\s,]+$/.test(name))));
}

/** How many of its lines must have the form of a format that refuses none. */
const MOST_LINES = 0.8;

function candidates(text: string): ConfigFormat[] {
  const lines = text.split(/\r?\n/).filter((line) => !/^\s*(?:[#;!]|\/\/|$)/.test(line));
  const share = (pattern: RegExp) => lines.filter((line) => pattern.test(line)).length / Math.max(1, lines.length);
  const hasSections = lines.some((line) => /^\s*\[[^\]]+\]\s*$/.test(line));
  const formats: ConfigFormat[] = ['toml'];
  if (/^\s*\{/.test(text) || /^\s*\/[/*]/.test(text)) formats.push('json');
  if (/^\s*</.test(text)) formats.push('xml');
  if (share(/[;{}]\s*(?:#.*)?$/) >= MOST_LINES) formats.push('nginx');
  if (share(/^\s*(?:-(?:\s|$)|["']?[\w.$/-]+["']?\s*:(?:\s|$))/) > 1 - MOST_LINES) formats.push('yaml');
  if (share(/^\s*(?:export\s+)?[A-Z_][A-Z\d_]*=/) >= MOST_LINES) formats.push('env');
  if (
    !hasSections &&
    share(/^\s*[\w-]+(?:\.[\w-]+)+\s*[=:]/) > 1 - MOST_LINES &&
    share(/^\s*[\w.-]+\s*[=:]/) >= MOST_LINES
  )
    formats.push('properties');
  if (share(hasSections ? /^\s*(?:\[[^\]]+\]|[\w.!-]+)/ : /^\s*[\w.-]+\s*=/) >= MOST_LINES) formats.push('ini');
  if (share(/^\s*[A-Za-z_][\w.-]*[ \t]+(?:\S+[ \t]+){0,11}\S*[^\s.,:?!]\s*$/) >= MOST_LINES) formats.push('key-value');
  return formats;
}
