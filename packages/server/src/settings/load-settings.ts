import { resolve } from 'node:path';
import type { SettingSource } from '@porthole/contract';
import { findConflicts } from './find-conflicts.ts';
import {
  describeOrigin,
  type FlagValue,
  type Layer,
  readEnvLayer,
  readFileLayer,
  readFlagLayer,
  readOptionLayer,
} from './read-sources.ts';
import type { SettingScalar } from './setting-kinds.ts';
import {
  type PartialSettings,
  SETTING_DEFINITIONS,
  type SettingDefinition,
  type SettingKey,
  type Settings,
} from './settings.ts';
import { type Finding, formatProblems, PRECEDENCE, SettingsError } from './settings-error.ts';
import { showText } from './show-value.ts';

/** Where settings come from, in rising precedence; below them all are the defaults. */
export interface SettingsSources {
  /** The settings file; without it, the one named by `PORTHOLE_CONFIG`, or none. */
  file?: string | undefined;
  env?: Readonly<Record<string, string | undefined>>;
  /** By setting key: `{ 'http.port': '0' }`. A list flag may hold several texts. */
  flags?: Readonly<Record<string, FlagValue>>;
  /** Given by the program that embeds the node. */
  options?: PartialSettings;
  /** The program that embeds the node authenticates its clients. */
  hasCredentials?: boolean;
  /** The node is a part of a program: unless it is told where, it writes nothing to the disk. */
  isEmbedded?: boolean;
  /** Base of relative paths outside the file; default: the working directory. */
  workDir?: string;
}

export interface SettingValue {
  definition: SettingDefinition;
  value: SettingScalar;
  /** With paths resolved, as `value` is. */
  defaultValue: SettingScalar;
  source: SettingSource;
  /** Where exactly: `environment PORTHOLE_HTTP_PORT`. */
  origin: string;
}

export interface LoadedSettings {
  settings: Settings;
  /** Absolute path of the settings file, `null` when there is none. */
  file: string | null;
  /** One per setting, in the order of the table. */
  values: SettingValue[];
  /** The node is a part of a program that did not say where it may write. */
  writesNothing: boolean;
  /** For the operator; they do not keep the node from starting. */
  warnings: string[];
  /** The values from the file, by key. */
  fileValues: ReadonlyMap<string, SettingScalar>;
  /** What was loaded, so that it can be loaded again. */
  sources: SettingsSources;
}

type Defaults = ReadonlyMap<string, SettingScalar>;

const NO_DEFAULTS: Defaults = new Map();

/** The defaults of a node that was not told where to write. A cluster, the archive and the journal are asked for. */
const NOTHING_WRITTEN: Defaults = new Map<SettingKey, SettingScalar>([
  ['logging.to', 'nothing'],
  ['events.max-size', 0],
  ['search.max-index-disk', '0'],
]);

/** Reads all sources. Throws one `SettingsError` with all problems. */
export async function loadSettings(sources: SettingsSources = {}): Promise<LoadedSettings> {
  const { env = {}, flags = {}, options = {}, workDir = process.cwd() } = sources;
  const fileName = sources.file ?? (env.PORTHOLE_CONFIG || undefined);
  const file = fileName === undefined ? null : resolve(workDir, fileName);
  const shownName = showText(fileName ?? '');
  const fileLayer = file === null ? null : await readFileLayer(file, shownName);
  // The highest precedence first: the first layer with a key wins.
  const layers = [readOptionLayer(options, workDir), readFlagLayer(flags, workDir), readEnvLayer(env, workDir)];
  if (fileLayer !== null) layers.push(fileLayer);

  const isTold = ['logging.dir', 'logging.to'].some((key) => layers.some(({ values: given }) => given.has(key)));
  const writesNothing = sources.isEmbedded === true && !isTold;
  const defaults = writesNothing ? NOTHING_WRITTEN : NO_DEFAULTS;
  const stack = { layers, defaults, workDir, shownName };
  const values = SETTING_DEFINITIONS.map((definition) => resolveSetting(definition, stack));
  const settings = toSettings(values);
  const findings = layers.flatMap((layer) => layer.findings);
  const ruledOut = sources.hasCredentials ? ['auth.allow-anonymous'] : [];
  findings.push(...conflictFindings(settings, values, { findings, ruledOut }));
  if (findings.length > 0) throw new SettingsError(await formatProblems(findings, fileLayer?.text ?? ''));

  return {
    settings,
    file,
    values,
    writesNothing,
    warnings: layers.flatMap((layer) => layer.warnings),
    fileValues: fileLayer?.values ?? new Map(),
    sources: { ...sources, workDir, file: fileName, env: ownVariables(env) },
  };
}

/** A copy: the environment of the process is shared, may change and contains unrelated secrets. */
function ownVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(SETTING_DEFINITIONS.map((definition) => [definition.env, env[definition.env]]));
}

interface Stack {
  /** The highest precedence first. */
  layers: readonly Layer[];
  /** Those that differ from the table's. */
  defaults: Defaults;
  workDir: string;
  /** How messages name the file. */
  shownName: string;
}

function resolveSetting(definition: SettingDefinition, { layers, defaults, workDir, shownName }: Stack): SettingValue {
  const defaultValue = defaults.get(definition.key) ?? readDefault(definition, workDir);
  const layer = layers.find(({ values }) => values.has(definition.key));
  const value = layer?.values.get(definition.key) ?? defaultValue;
  const source = layer?.source ?? 'default';
  const origin = describeOrigin(definition, source, shownName);
  return { definition, value, defaultValue, source, origin };
}

/** Through the kind's parser, which resolves paths and copies lists. */
function readDefault(definition: SettingDefinition, workDir: string): SettingScalar {
  const reading = definition.kind.read(definition.default, { form: 'option', baseDir: workDir });
  if ('refused' in reading) throw new TypeError(`the default of ${definition.key} is not valid`);
  return reading.value;
}

function toSettings(values: readonly SettingValue[]): Settings {
  const sections: Record<string, Record<string, SettingScalar>> = {};
  for (const { definition, value } of values) {
    sections[definition.section] = { ...sections[definition.section], [definition.property]: value };
  }
  // Each value was parsed by the kind of its row, as the type says; the compiler cannot follow the loop.
  return sections as Settings;
}

/** Each conflict is reported at the involved setting of the highest precedence, which somebody chose. */
function conflictFindings(
  settings: Settings,
  values: readonly SettingValue[],
  { findings, ruledOut }: { findings: readonly Finding[]; ruledOut: readonly string[] },
): Finding[] {
  const refused = new Set([...findings.flatMap(({ key }) => (key === undefined ? [] : [key])), ...ruledOut]);
  return findConflicts(settings, refused).flatMap(({ keys, text }) => {
    const involved = keys.flatMap((key) => values.filter(({ definition }) => definition.key === key));
    const ranked = involved.sort((a, b) => PRECEDENCE.indexOf(b.source) - PRECEDENCE.indexOf(a.source));
    return ranked.slice(0, 1).map(({ definition, source, origin }) => ({
      code: 'CONFLICT' as const,
      source,
      at: origin,
      text,
      key: definition.key,
      ...(source === 'file' ? { path: [definition.section, definition.name] } : {}),
    }));
  });
}
