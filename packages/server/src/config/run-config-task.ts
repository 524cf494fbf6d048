import { type ConfigFile, type ConfigView, type KnownSecrets, viewConfig } from './config-view.ts';
import { redactToml } from './redact-config.ts';

/** A task on the texts of a configuration, as data: it runs on this thread or another. */
export interface ConfigTask {
  kind: keyof ConfigResults;
  files: readonly ConfigFile[];
  secretKeys: readonly string[];
}

export interface ConfigResults {
  /** The first file, which must be TOML, with its secrets masked. */
  mask: string;
  secrets: KnownSecrets;
  view: ConfigView;
}

export async function runConfigTask({
  kind,
  files,
  secretKeys,
}: ConfigTask): Promise<ConfigResults[ConfigTask['kind']]> {
  if (kind === 'mask') return redactToml(files[0]?.text ?? '', { secretKeys });
  const view = await viewConfig(files, secretKeys);
  return kind === 'view' ? view : view.secrets;
}
