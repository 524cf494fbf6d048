import { rgPath } from '@vscode/ripgrep';
import { ensurePrograms } from '../scripts/programs.mjs';
import type { Cleanup } from './cleanup.ts';
import { runProgram } from './program.ts';

/** How each prints its version. */
const VERSIONS = {
  chromium: { flag: '--version', pattern: /Chromium \S+/ },
  'clickhouse-client': { flag: '--version', pattern: /version \S+/ },
  'clickhouse-server': { flag: '--version', pattern: /version \S+/ },
  curl: { flag: '--version', pattern: /curl \S+/ },
  goaccess: { flag: '--version', pattern: /GoAccess - [\d.]+\d/ },
  grep: { flag: '--version', pattern: /GNU grep\) \S+/ },
  journalctl: { flag: '--version', pattern: /systemd \d+/ },
  lnav: { flag: '-V', pattern: /lnav \S+/ },
  mawk: { flag: '-Wversion', pattern: /mawk \S+/ },
  nginx: { flag: '-v', pattern: /nginx\/\S+/ },
  rg: { flag: '--version', pattern: /ripgrep \S+/ },
  'systemd-journal-remote': { flag: '--version', pattern: /systemd \d+/ },
  wc: { flag: '--version', pattern: /coreutils\) \S+/ },
  wrk: { flag: '-v', pattern: /^wrk \S+/m },
  zgrep: { flag: '--version', pattern: /gzip\) \S+/ },
};

/** The programs we are measured with. */
export type PeerName = keyof typeof VERSIONS;

/** Where they are. ripgrep comes with the development dependencies, the others from the system. */
export function findPeers(names: readonly PeerName[]): Map<PeerName, string> {
  const fromSystem = [...new Set(names)].filter((name) => name !== 'rg');
  const peers = new Map<PeerName, string>(ensurePrograms(fromSystem));
  return names.includes('rg') ? peers.set('rg', rgPath) : peers;
}

/** As the program prints it; wrk then ends with 1, for want of a URL. */
export async function peerVersion(name: PeerName, path: string, cleanup: Cleanup): Promise<string> {
  const { flag, pattern } = VERSIONS[name];
  const output = await runProgram([path, flag], cleanup).catch((error: Error) => error.message);
  const found = pattern.exec(output)?.[0] ?? '';
  return found.startsWith(name) || name === 'rg' ? found : `${name} (${found}`;
}
