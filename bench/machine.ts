import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import type { Cleanup } from './cleanup.ts';
import { ROOT } from './context.ts';
import { type PeerName, peerVersion } from './peers.ts';
import { runProgram } from './program.ts';

export interface Machine {
  cpu: string;
  cores: number;
  memoryGib: number;
  kernel: string;
  node: string;
  /** Versions as the programs print them. */
  peers: readonly string[];
  /** The commit measured, with a mark when the checkout differs from it. */
  commit: string;
}

export async function describeMachine(peers: ReadonlyMap<PeerName, string>, cleanup: Cleanup): Promise<Machine> {
  return {
    cpu: await cpuModel(cleanup),
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    kernel: `${type()} ${release()} ${process.arch}`,
    node: process.version,
    peers: await Promise.all([...peers].map(([name, path]) => peerVersion(name, path, cleanup))),
    commit: await describeCommit(cleanup),
  };
}

/** Short enough for a file name. */
export function machineSlug({ cpu, cores }: Machine): string {
  const words = cpu.replace(/\((?:R|TM)\)|@.*|\b(?:CPU|Processor)\b/gi, ' ');
  return `${words}-${cores}c`.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/** On ARM only lscpu knows the name. */
async function cpuModel(cleanup: Cleanup): Promise<string> {
  const model = cpus()[0]?.model.trim() ?? '';
  if (model !== '' && model !== 'unknown') return model;
  const output = await runProgram(['lscpu'], cleanup, { env: { ...process.env, LC_ALL: 'C' } }).catch(() => '');
  return /^Model name:\s+(.+)$/m.exec(output)?.[1] ?? process.arch;
}

async function describeCommit(cleanup: Cleanup): Promise<string> {
  const git = (...args: string[]) => runProgram(['git', ...args], cleanup, { cwd: ROOT }).then((text) => text.trim());
  try {
    const commit = await git('rev-parse', '--short', 'HEAD');
    return (await git('status', '--porcelain')) === '' ? commit : `${commit} with changes`;
  } catch {
    return 'none';
  }
}
