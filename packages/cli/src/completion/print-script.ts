import type { CommandDefinition, CommandModule } from '../command-definition.ts';
import { EXIT, ProgramError } from '../exit.ts';
import { bashScript } from './bash-script.ts';
import { completedCommands } from './completed-command.ts';
import { fishScript } from './fish-script.ts';
import { zshScript } from './zsh-script.ts';

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
