import { parseArgs } from 'node:util';
import { errorMessage } from '@porthole/contract';
import { Cleanup, endWithProcess } from './cleanup.ts';
import { FULL_EFFORT, SMOKE_EFFORT } from './context.ts';
import type { Group } from './group.ts';
import { GROUPS } from './groups.ts';
import { describeMachine, renderReport, renderSummary, saveReport } from './report.ts';
import { listFailures, runGroups } from './run-bench.ts';

/** Runs the groups asked for and resolves to the exit code: 1 if a group failed or a target was missed. */
export async function main(args: readonly string[]): Promise<number> {
  const cleanup = new Cleanup();
  endWithProcess(cleanup);
  // Where it is set, Node.js parses those certificates at every start: 75 ms that belong to the machine.
  delete process.env.NODE_EXTRA_CA_CERTS;
  try {
    return await measure(args, cleanup);
  } catch (error) {
    if (cleanup.ended) return await new Promise<never>(() => {}); // whatever failed, a signal ended it: its handler ends us
    const isExpected = error instanceof OptionsError;
    console.error(isExpected ? error.message : error);
    return isExpected ? 2 : 1;
  } finally {
    await cleanup.run();
  }
}

async function measure(args: readonly string[], cleanup: Cleanup): Promise<number> {
  const { groups, smoke, save, help } = readOptions(args);
  if (help) {
    console.log(USAGE);
    return 0;
  }
  if (process.platform !== 'linux') throw new OptionsError('the bench reads /proc and runs on Linux only');
  const run = await runGroups({ groups, effort: smoke ? SMOKE_EFFORT : FULL_EFFORT, cleanup });
  const failures = listFailures(run.groups, { checksTargets: !smoke });
  console.log(renderSummary(run.groups, { showsTargets: !smoke }));
  if (save) {
    const machine = await describeMachine(run.peers, cleanup);
    console.error(`written to ${saveReport(renderReport({ ...run, machine, date: new Date(), args }))}`);
  }
  for (const failure of failures) console.error(failure);
  return failures.length === 0 ? 0 : 1;
}

const USAGE = `npm run bench -- [--only GROUP[,GROUP]] [--smoke] [--save]

  --only   ${GROUPS.map(({ name }) => name).join(', ')}; all unless given
  --smoke  tiny inputs and single rounds: shows that everything runs; targets are not checked
  --save   also write bench/results/latest.md; of all groups`;

/** What the command line says cannot be done. */
class OptionsError extends Error {
  override readonly name = 'OptionsError';
}

function readOptions(args: readonly string[]) {
  const { only, ...options } = parse(args);
  if (options.save && (options.smoke || only.length > 0))
    throw new OptionsError('--save is for a run of all groups: not with --only or --smoke');
  return { ...options, groups: chooseGroups(only) };
}

function parse(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const options = {
    only: { type: 'string', multiple: true, default: [] as string[] },
    smoke: flag,
    save: flag,
    help: flag,
  } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new OptionsError(`${errorMessage(error)}\n\n${USAGE}`, { cause: error });
  }
}

function chooseGroups(only: readonly string[]): readonly Group[] {
  const names = only.flatMap((value) => value.split(','));
  const unknown = names.find((name) => !GROUPS.some((group) => group.name === name));
  if (unknown !== undefined) {
    throw new OptionsError(`no group named "${unknown}"; there are ${GROUPS.map(({ name }) => name).join(', ')}`);
  }
  return names.length === 0 ? GROUPS : GROUPS.filter(({ name }) => names.includes(name));
}
