import { resolve } from 'node:path';
import type { UserFormat } from '@porthole/logs';
import { readEnvLayer, readFileLayer } from './read-sources.ts';
import { readFormats } from './setting-kinds.ts';
import type { SettingKey } from './settings.ts';
import { type Finding, formatProblems, SettingsError } from './settings-error.ts';
import { showText } from './show-value.ts';

export { SettingsError };

const KEY: SettingKey = 'log.formats';

interface FormatSources {
  /** The settings file. */
  file: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * The log formats of a settings file and the environment, for programs that read local files without a node. Other
 * settings are not validated. Throws a `SettingsError`.
 */
export async function loadLogFormats({ file, env }: FormatSources): Promise<UserFormat[]> {
  const workDir = process.cwd();
  const fromFile = file === undefined ? undefined : await readFileLayer(resolve(workDir, file), showText(file));
  const layers = [readEnvLayer(env, workDir), ...(fromFile ? [fromFile] : [])];
  const findings = layers.flatMap((layer) => layer.findings).filter(concernsFormats);
  if (findings.length > 0) throw new SettingsError(await formatProblems(findings, fromFile?.text ?? ''));
  const texts = layers.find(({ values }) => values.has(KEY))?.values.get(KEY);
  return Array.isArray(texts) ? readFormats(texts) : [];
}

/** The setting, its table, or a file that cannot be read. */
function concernsFormats({ key, source, path }: Finding): boolean {
  return key === KEY || (source === 'file' && (path === undefined || path[0] === 'log'));
}
