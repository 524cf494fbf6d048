import { compareWithDisk, settingEntries } from '../settings/describe-settings.ts';
import type { LoadedSettings } from '../settings/load-settings.ts';
import { renderSettings } from '../settings/render-settings.ts';
import type { ConfigSource } from './config-source.ts';

/** The settings the node runs with; its file on disk may have changed since. */
export function createOwnConfig(loaded: LoadedSettings): ConfigSource {
  const text = renderSettings(loaded);
  const settings = settingEntries(loaded);
  return {
    observes: 'self',
    text: async () => text,
    settings: async () => ({ observes: 'self', file: loaded.file, settings, disk: await compareWithDisk(loaded) }),
    async check() {
      const { state, differs, detail } = await compareWithDisk(loaded);
      if (state === 'none') return { ok: true, detail: 'defaults, environment and flags; no settings file' };
      if (state === 'same') return { ok: true, detail: `as in ${loaded.file}` };
      if (state === 'changed') return { ok: true, detail: `${loaded.file} changed since start: ${differs.join(', ')}` };
      return { ok: false, detail: detail ?? `${loaded.file} is ${state}` };
    },
  };
}
