import { COMMAND_TREE } from '../command-tree.ts';
import { bashScript } from '../completion/bash-script.ts';
import { completedCommands } from '../completion/completed-command.ts';
import { fishScript } from '../completion/fish-script.ts';
import { zshScript } from '../completion/zsh-script.ts';
import { EXIT, ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';

const SCRIPTS = new Map([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
]);

export async function run({ args: [shell = ''], terminal }: Invocation): Promise<number> {
  const script = SCRIPTS.get(shell);
  if (!script) throw new ProgramError(`no completion for shell ${JSON.stringify(shell)}: expected bash, zsh or fish`);
  await terminal.write(script(COMMAND_TREE.name, await completedCommands(COMMAND_TREE)));
  return EXIT.ok;
}
