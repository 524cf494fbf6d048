import { type CommandDefinition, type Completion, loadFlags } from '../command-definition.ts';

export interface CompletedFlag {
  long: string;
  short: string | undefined;
  about: string;
  /** What stands behind it: nothing, something that may be left out, or something that must be there. */
  value: 'none' | 'optional' | 'needed';
  /** What the value can be, where that is known. */
  complete: Completion | undefined;
}

/** A command as shells need it. */
export interface CompletedCommand {
  /** Names below the program, like `logs search`; empty for the program itself. */
  path: string;
  about: string;
  commands: readonly { name: string; about: string }[];
  flags: readonly CompletedFlag[];
  /** What its arguments can be: the last one's, if there may be many. */
  args: readonly (Completion | undefined)[];
  hasManyArgs: boolean;
}

const HELP: CompletedFlag = { long: 'help', short: 'h', about: 'display help', value: 'none', complete: undefined };

/** The whole tree as a list, each command before those below it. */
export async function completedCommands(tree: CommandDefinition, path = ''): Promise<CompletedCommand[]> {
  const { about, args = [], commands = [] } = tree;
  const flags = (await loadFlags(tree)).map(
    ({ long, short, value, alone, choices, complete, about }): CompletedFlag => ({
      long,
      short,
      about,
      value: value === undefined ? 'none' : alone === undefined ? 'needed' : 'optional',
      // Settings tell what they can be in the name of their value: "debug|info|warn|error".
      complete: choices ?? complete ?? (value?.includes('|') ? value.split('|') : undefined),
    }),
  );
  const own: CompletedCommand = {
    path,
    about,
    commands: commands.map((child) => ({ name: child.name, about: child.about })),
    flags: [...flags, HELP],
    args: args.map(({ complete }) => complete),
    hasManyArgs: args.at(-1)?.many === true,
  };
  const below = commands.map((child) => completedCommands(child, path === '' ? child.name : `${path} ${child.name}`));
  return [own, ...(await Promise.all(below)).flat()];
}
