import { stat } from 'node:fs/promises';
import type { NodeSettings, SettingEntry } from '@porthole/contract';
import { hasCode } from '../errors.ts';
import { type LoadedSettings, loadSettings, type SettingValue } from './load-settings.ts';
import type { SettingScalar } from './setting-kinds.ts';
import { SECTIONS, SETTING_DEFINITIONS, type SettingDefinition } from './settings.ts';
import { SettingsError } from './settings-error.ts';
import { showText, toToml } from './show-value.ts';

/** Each setting with its value, default and source, spelt as in the file. */
export function settingEntries(loaded: LoadedSettings): SettingEntry[] {
  return loaded.values.map(({ definition, value, defaultValue, source }) => ({
    key: definition.key,
    value: definition.kind.toJson(value),
    default: definition.kind.toJson(defaultValue),
    changed: !equal(value, defaultValue),
    source,
    secret: false,
  }));
}

/**
 * The settings file as it is now against what was read at start. A file is broken when the node would refuse to start
 * with it, so values that are impossible together count; a change of comments or layout does not.
 */
export async function compareWithDisk(loaded: LoadedSettings): Promise<NodeSettings['disk']> {
  if (loaded.file === null) return { state: 'none', differs: [], detail: null };
  let now: LoadedSettings;
  try {
    now = await loadSettings({ ...loaded.sources, file: loaded.file });
  } catch (thrown) {
    if (!(thrown instanceof SettingsError)) throw thrown;
    const missing = thrown.problems.some(({ code }) => code === 'FILE_MISSING');
    return { state: missing ? 'missing' : 'broken', differs: [], detail: thrown.message };
  }
  const changes = loaded.values.flatMap(({ definition, defaultValue }) => {
    const { key, kind } = definition;
    const [atStart, onDisk] = [loaded, now].map(({ fileValues }) => fileValues.get(key) ?? defaultValue);
    if (atStart === undefined || onDisk === undefined || equal(atStart, onDisk)) return [];
    return [{ key, atStart: kind.toJson(atStart), onDisk: kind.toJson(onDisk) }];
  });
  if (changes.length === 0) return { state: 'same', differs: [], detail: null };
  return { state: 'changed', differs: changes.map(({ key }) => key), detail: null, changes };
}

function equal(a: SettingScalar, b: SettingScalar): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The effective configuration as TOML that a node can be started with. */
export function renderSettings(loaded: LoadedSettings): string {
  const origin = loaded.file === null ? 'No settings file was read.' : `Settings file: ${showText(loaded.file)}`;
  const head = ['# The settings this node runs with.', `# ${origin}`];
  const sections = SECTIONS.map((section) => {
    const values = loaded.values.filter(({ definition }) => definition.section === section);
    return [`[${section}]`, values.map(renderValue).join('\n\n')].join('\n');
  });
  return `${[head.join('\n'), ...sections].join('\n\n')}\n`;
}

function renderValue({ definition, value, defaultValue, source, origin }: SettingValue): string {
  return [
    `# ${definition.about}`,
    `# Default: ${toToml(definition, defaultValue)}. Environment: ${definition.env}.`,
    ...(source === 'default' ? [] : [`# Set by ${source === 'file' ? `file ${origin}` : origin}.`]),
    `${definition.name} = ${toToml(definition, value)}`,
  ].join('\n');
}

/** The table of all settings in `docs/settings.md`. */
export function settingsTable(): string {
  const head = ['Setting', 'Type', 'Default', 'Environment variable', 'Flag', 'Meaning'];
  const rows = [head, head.map(() => '---'), ...SETTING_DEFINITIONS.map(toCells)];
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function toCells(definition: SettingDefinition): string[] {
  const { key, kind, env, flag, about } = definition;
  const limits = kind.limits === '' ? '' : ` (${kind.limits})`;
  return [
    code(key),
    `${kind.name}${limits}`,
    code(toToml(definition, definition.default)),
    code(env),
    code(flag),
    about,
  ];
}

function code(text: string): string {
  return `\`${text}\``;
}

/** Two changes this close to each other may have the same times: a file is read again until it was the same for longer. */
const SETTLED_MS = 2000;

interface DiskComparisonOptions {
  /** Monotonic. */
  nowMs?: () => number;
  compare?: (loaded: LoadedSettings) => Promise<NodeSettings['disk']>;
}

/**
 * The settings file against what was read at start. Every description of a node needs it, of which others request some each
 * minute, so a file that stays the same is not read again.
 */
export class DiskComparison {
  readonly #loaded: LoadedSettings;
  readonly #options: Required<DiskComparisonOptions>;
  #last: { stamp: string; seenMs: number; readMs: number; disk: NodeSettings['disk'] } | undefined;

  constructor(
    loaded: LoadedSettings,
    { nowMs = () => performance.now(), compare = compareWithDisk }: DiskComparisonOptions = {},
  ) {
    this.#loaded = loaded;
    this.#options = { nowMs, compare };
  }

  async read(): Promise<NodeSettings['disk']> {
    const { nowMs, compare } = this.#options;
    const last = this.#last;
    const readMs = nowMs();
    const stamp = await this.#stamp();
    const isSame = stamp !== undefined && stamp === last?.stamp;
    if (isSame && last.readMs - last.seenMs >= SETTLED_MS) return last.disk;
    const disk = await compare(this.#loaded);
    this.#last = stamp === undefined ? undefined : { stamp, seenMs: isSame ? last.seenMs : readMs, readMs, disk };
    return disk;
  }

  /** `undefined` if there is no file. */
  async #stamp(): Promise<string | undefined> {
    if (this.#loaded.file === null) return undefined;
    try {
      const { dev, ino, mode, size, mtimeNs, ctimeNs } = await stat(this.#loaded.file, { bigint: true });
      return [dev, ino, mode, size, mtimeNs, ctimeNs].join(':');
    } catch (error) {
      // Whatever is wrong with it, reading it says so.
      if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) return undefined;
      throw error;
    }
  }
}
