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

const TIMES = ['5m', '15m', '1h', '6h', '24h', '7d', '1mo', 'today', 'yesterday', 'now'];
const SPANS = ['1s', '10s', '1m', '5m', '15m', '1h', '6h', '1d'];
const COUNTS = ['1', '3', '10', '100', '1000'];

/** Completion by what help calls a value, where its flag or argument says nothing else. */
const BY_PLACEHOLDER: Readonly<Record<string, Completion>> = {
  time: TIMES,
  span: SPANS,
  n: COUNTS,
  zone: 'zone',
  'time-zone': 'zone',
  role: 'role',
  'name=value': 'label',
  label: 'label-name',
  'file:line': 'location',
  value: 'value',
  query: 'query',
  url: 'url',
  host: ['127.0.0.1', '0.0.0.0', '::1', '::'],
  port: ['7300', '0'],
  path: 'file',
  'list-of-paths': 'file',
  'list-of-directories': 'directory',
};

/** Settings list their choices in the placeholder: "debug|info|warn|error". */
function completionOf(placeholder: string | undefined): Completion | undefined {
  if (placeholder === undefined) return undefined;
  return placeholder.includes('|') ? placeholder.split('|') : BY_PLACEHOLDER[placeholder];
}

/** Flattens the tree, parents before children. */
export async function completedCommands(tree: CommandDefinition, path = ''): Promise<CompletedCommand[]> {
  const { about, args = [], commands = [] } = tree;
  const flags = (await loadFlags(tree)).map(
    ({ long, short, value, alone, choices, complete, about }): CompletedFlag => ({
      long,
      short,
      about,
      value: value === undefined ? 'none' : alone === undefined ? 'needed' : 'optional',
      complete: choices ?? complete ?? completionOf(value),
    }),
  );
  const own: CompletedCommand = {
    path,
    about,
    commands: commands.map((child) => ({ name: child.name, about: child.about })),
    flags: [...flags, HELP],
    args: args.map(({ name, complete }) => complete ?? completionOf(name)),
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
