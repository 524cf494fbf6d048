import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Cleanup } from './cleanup.ts';
import { runProgram, showCommand } from './program.ts';

export type PeerName = 'nginx' | 'wrk';

/** The Debian package of each. */
const PACKAGES: Readonly<Record<PeerName, string>> = { nginx: 'nginx-light', wrk: 'wrk' };

/** Debian keeps nginx where the PATH of an ordinary user does not look. */
const SYSTEM_DIRS = ['/usr/sbin', '/usr/local/sbin'];

/** The programs we are measured with are not there and cannot be installed from here. */
export class PeersMissing extends Error {
  override readonly name = 'PeersMissing';
}

/** Finds the programs, installing those that are missing where that is possible. Never goes on without one. */
export async function ensurePeers(names: ReadonlySet<PeerName>, cleanup: Cleanup): Promise<Map<PeerName, string>> {
  const missing = [...names].filter((name) => findProgram(name) === undefined);
  if (missing.length > 0) await install(missing, cleanup);
  const paths = [...names].map((name) => [name, findProgram(name)] as const);
  const found = paths.filter((entry): entry is [PeerName, string] => entry[1] !== undefined);
  if (found.length < paths.length) throw missingPeers(missing);
  return new Map(found);
}

function findProgram(name: string): string | undefined {
  const dirs = [...(process.env.PATH ?? '').split(delimiter).filter((dir) => dir !== ''), ...SYSTEM_DIRS];
  return dirs.map((dir) => join(dir, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function install(missing: readonly PeerName[], cleanup: Cleanup): Promise<void> {
  const aptGet = findProgram('apt-get');
  if (aptGet === undefined || process.getuid?.() !== 0) throw missingPeers(missing);
  const command = [aptGet, 'install', '-y', ...missing.map((name) => PACKAGES[name])];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  console.error(`not found: ${missing.join(', ')}; running ${showCommand(command)}`);
  try {
    // A fresh machine or container has no package lists yet.
    await runProgram([aptGet, 'update'], cleanup, { env });
    await runProgram(command, cleanup, { env });
  } catch (error) {
    throw missingPeers(missing, error);
  }
}

function missingPeers(missing: readonly PeerName[], cause?: unknown): PeersMissing {
  const packages = missing.map((name) => PACKAGES[name]).join(' ');
  const reason = cause instanceof Error ? `\n${cause.message}` : '';
  return new PeersMissing(
    `the bench needs ${missing.join(' and ')}: install with "apt-get install -y ${packages}" as root, or put on PATH${reason}`,
    { cause },
  );
}
