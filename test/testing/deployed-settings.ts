import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SETTING_DEFINITIONS } from '@porthole/server/settings';
import { type LoadedSettings, loadSettings } from '@porthole/server/testing';

const ROOT = join(import.meta.dirname, '../..');

export function readDeployed(path: string): string {
  return readFileSync(join(ROOT, 'deploy', path), 'utf8');
}

/** The settings a node would have with these words after `serve` and these variables; throws like its start on any mistake. */
export function loadDeployedSettings(words: readonly string[], env: Record<string, string>): Promise<LoadedSettings> {
  const known = new Set(['PORTHOLE_CONFIG', ...SETTING_DEFINITIONS.map((definition) => definition.env)]);
  // The node itself lets unknown ones pass, because orchestrators set some of their own.
  const unknown = Object.keys(env).filter((name) => name.startsWith('PORTHOLE_') && !known.has(name));
  if (unknown.length > 0) throw new Error(`no setting has the variables ${unknown.join(', ')}`);
  const flags: Record<string, string> = {};
  let file: string | undefined;
  for (let at = 0; at < words.length; at += 2) {
    const [name = '', value = ''] = words.slice(at, at + 2);
    const definition = SETTING_DEFINITIONS.find(({ flag }) => flag === name);
    if (name === '--config') file = value;
    else if (definition) flags[definition.key] = value;
    else throw new Error(`the program has no flag ${name}`);
  }
  return loadSettings({
    env,
    flags,
    ...(file && { file: join(ROOT, 'deploy/systemd', file.split('/').at(-1) ?? '') }),
  });
}
