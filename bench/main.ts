import { parseArgs } from 'node:util';
import { errorMessage } from '@porthole/contract';
import { ProgramsMissing } from '../scripts/programs.mjs';
import { Cleanup, endWithProcess } from './cleanup.ts';
import { createContext, FULL_EFFORT, QUICK_EFFORT } from './context.ts';
import type { Group, Row } from './group.ts';
import { GROUPS } from './groups.ts';
import { findPeers } from './peers.ts';
import { describeMachine, type Report, renderReport, renderTable, saveReport } from './report.ts';

/**
 * Runs the groups asked for, one after the other, and resolves to the exit code. A bar that is not met is a result, not a
 * failure; a group that fails is reported, and the others still run.
 */
export async function main(args: readonly string[]): Promise<number> {
  const cleanup = new Cleanup();
  endWithProcess(cleanup);
  // Where it is set, Node.js parses those certificates at every start: 75 ms that belong to the machine.
  delete process.env.NODE_EXTRA_CA_CERTS;
  try {
    return (await measure(args, cleanup)) ? 0 : 1;
  } catch (error) {
    if (cleanup.ended) return await new Promise<never>(() => {}); // whatever failed, a signal ended it: its handler ends us
    const isExpected = error instanceof OptionsError || error instanceof ProgramsMissing;
    console.error(isExpected ? error.message : error);
    return isExpected ? 2 : 1;
  } finally {
    await cleanup.run();
  }
}

/** Whether all groups ran to their end. */
async function measure(args: readonly string[], cleanup: Cleanup): Promise<boolean> {
  const options = readOptions(args, GROUPS);
  if (options.help) {
    console.log(USAGE);
    return true;
  }
  if (process.platform !== 'linux') throw new OptionsError('the bench reads /proc and runs on Linux only');
  const peers = findPeers(options.groups.flatMap(({ needs }) => needs));
  const context = createContext({ cleanup, peers, effort: options.quick ? QUICK_EFFORT : FULL_EFFORT });
  const machine = await describeMachine(peers, cleanup);

  const rows: Row[] = [];
  let isWhole = true;
  for (const group of options.groups) {
    const startedAt = performance.now();
    context.log(`group ${group.name}`);
    try {
      rows.push(...(await group.run(context)));
    } catch (error) {
      if (cleanup.ended) throw error;
      isWhole = false;
      console.error(error);
      rows.push({ figure: `group ${group.name}`, porthole: '', against: `failed: ${errorMessage(error)}` });
    }
    await cleanup.run();
    context.log(`group ${group.name} took ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }
  const report: Report = {
    machine,
    date: new Date(),
    args,
    rows,
    commands: [...context.commands],
    files: context.files,
  };
  console.log(options.save ? renderReport(report) : renderTable(rows));
  if (options.save) context.log(`written to ${saveReport(report)}`);
  return isWhole;
}

const USAGE = `npm run bench -- [--only GROUP[,GROUP]] [--peers] [--quick] [--save]

  --only   ${GROUPS.map(({ name }) => name).join(', ')}; all unless given
  --peers  the same as --only operator: five questions of an operator, asked of other programs, too
  --quick  shorter and fewer rounds, smaller logs: shows that it runs, not how fast it is
  --save   also write bench/results/DATE-MACHINE.md`;

/** What the command line says cannot be done. */
class OptionsError extends Error {
  override readonly name = 'OptionsError';
}

interface BenchOptions {
  groups: readonly Group[];
  quick: boolean;
  save: boolean;
  help: boolean;
}

function readOptions(args: readonly string[], known: readonly Group[]): BenchOptions {
  const { only, peers, quick, save, help } = parse(args);
  return { groups: chooseGroups(peers ? [...only, 'operator'] : only, known), quick, save, help };
}

function parse(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const options = {
    only: { type: 'string', multiple: true, default: [] as string[] },
    peers: flag,
    quick: flag,
    save: flag,
    help: flag,
  } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new OptionsError(`${errorMessage(error)}\n\n${USAGE}`, { cause: error });
  }
}

function chooseGroups(only: readonly string[], known: readonly Group[]): readonly Group[] {
  const names = only.flatMap((value) => value.split(','));
  const unknown = names.find((name) => !known.some((group) => group.name === name));
  if (unknown !== undefined) {
    throw new OptionsError(`no group named "${unknown}"; there are ${known.map(({ name }) => name).join(', ')}`);
  }
  return names.length === 0 ? known : known.filter(({ name }) => names.includes(name));
}
