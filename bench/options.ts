import { parseArgs } from 'node:util';
import { errorMessage } from '@porthole/contract';
import type { Group } from './group.ts';

export const USAGE = `npm run bench -- [--only GROUP[,GROUP]] [--quick] [--save]

  --only   view, scrub, growth, readers, start, search, text-index, field-query, seek, parse, count, files, follow, beside, program, print, transports, cluster, archive, console, trust; all unless given
  --quick  shorter and fewer rounds, smaller logs: shows that it runs, not how fast it is
  --save   also write bench/results/DATE-MACHINE.md`;

/** What the command line says cannot be done. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
}

export interface BenchOptions {
  groups: readonly Group[];
  quick: boolean;
  save: boolean;
  help: boolean;
}

export function readOptions(args: readonly string[], known: readonly Group[]): BenchOptions {
  const { only, quick, save, help } = parse(args);
  return { groups: chooseGroups(only, known), quick, save, help };
}

function parse(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const options = {
    only: { type: 'string', multiple: true, default: [] as string[] },
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
