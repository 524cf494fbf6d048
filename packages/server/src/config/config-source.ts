import type { NodeSettings } from '@porthole/contract';
import { renderSettings, settingEntries } from '../settings/describe-settings.ts';
import { DiskComparison } from '../settings/disk-comparison.ts';
import type { LoadedSettings } from '../settings/load-settings.ts';

/** The source of the configuration a node shows. */
export interface ConfigSource {
  readonly observes: NodeSettings['observes'];
  /** Why it was not available when the node started. */
  readonly startProblem?: string | undefined;
  /** Valid TOML with all secrets masked. Throws `CONFIG_UNAVAILABLE` if it is not available. */
  text(): Promise<string>;
  settings(): Promise<NodeSettings>;
  /** The health check. */
  check(): Promise<{ ok: boolean; detail: string }>;
}

/** The settings the node runs with; its file on disk may have changed since. */
export function createOwnConfig(loaded: LoadedSettings): ConfigSource {
  const text = renderSettings(loaded);
  const settings = settingEntries(loaded);
  const disk = new DiskComparison(loaded);
  return {
    observes: 'self',
    text: async () => text,
    settings: async () => ({ observes: 'self', file: loaded.file, settings, disk: await disk.read() }),
    async check() {
      const { state, differs, detail } = await disk.read();
      if (state === 'none') return { ok: true, detail: 'defaults, environment and flags; no settings file' };
      if (state === 'same') return { ok: true, detail: `as in ${loaded.file}` };
      if (state === 'changed') return { ok: true, detail: `${loaded.file} changed since start: ${differs.join(', ')}` };
      return { ok: false, detail: detail ?? `${loaded.file} is ${state}` };
    },
  };
}
