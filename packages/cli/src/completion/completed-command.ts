import { type CommandDefinition, type CommandModule, type Completion, loadFlags } from '../command-definition.ts';
import { EXIT, ProgramError } from '../exit.ts';
import { bashScript } from './bash-script.ts';
import { fishScript } from './fish-script.ts';
import { zshScript } from './zsh-script.ts';

export interface CompletedFlag {
  long: string;
  short: string | undefined;
  about: string;
  /** Whether it takes a value. */
  value: 'none' | 'optional' | 'needed';
  /** The possible values, if known. */
  complete: Completion | undefined;
}

/** A command as the completion scripts need it. */
export interface CompletedCommand {
  /** The path of the command, like `logs search`; empty for the program itself. */
  path: string;
  about: string;
  commands: readonly { name: string; about: string }[];
  flags: readonly CompletedFlag[];
  /** Completion of each argument; the last one applies to all further ones if `hasManyArgs`. */
  args: readonly (Completion | undefined)[];
  hasManyArgs: boolean;
}

const HELP: CompletedFlag = { long: 'help', short: 'h', about: 'display help', value: 'none', complete: undefined };

/** Flattens the tree, parents before children. */
export async function completedCommands(tree: CommandDefinition, path = ''): Promise<CompletedCommand[]> {
  const { about, args = [], commands = [] } = tree;
  const flags = (await loadFlags(tree)).map(
    ({ long, short, value, alone, choices, complete, about }): CompletedFlag => ({
      long,
      short,
      about,
      value: value === undefined ? 'none' : alone === undefined ? 'needed' : 'optional',
      // Settings list their choices in the value name: "debug|info|warn|error".
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

const SCRIPTS = new Map([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
]);

/** Prints the script of a shell, for the commands of this tree. */
export function printScript(tree: CommandDefinition): CommandModule {
  return {
    async run({ args: [shell = ''], terminal }) {
      const script = SCRIPTS.get(shell);
      if (!script)
        throw new ProgramError(`no completion for shell ${JSON.stringify(shell)}: expected bash, zsh or fish`);
      await terminal.write(script(tree.name, await completedCommands(tree)));
      return EXIT.ok;
    },
  };
}
