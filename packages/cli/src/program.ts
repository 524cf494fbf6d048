import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { ArgumentDefinition, CommandDefinition, FlagDefinition } from './command-definition.ts';
import { argumentUsage, loadFlags } from './command-definition.ts';
import { addNotes, HELP_FORMAT } from './help.ts';
import type { FlagValue } from './invocation.ts';

/** Called with the selected command after its line was parsed. */
export type OnCommand = (
  definition: CommandDefinition,
  args: string[],
  flags: Record<string, FlagValue>,
) => Promise<void>;

/** Builds the parser for one command line. Only the branch it can concern gets its flags, because creating them takes time. */
export async function buildProgram(tree: CommandDefinition, argv: readonly string[], onCommand: OnCommand) {
  const program = new Command(tree.name)
    .description(tree.about)
    .showHelpAfterError(`Run "${tree.name} --help" for usage`)
    .configureHelp(HELP_FORMAT)
    .enablePositionalOptions()
    .exitOverride();
  const flags = await loadFlags(tree);
  for (const flag of flags) program.addOption(toOption(flag));
  program.on('option:version', () => {
    throw new CommanderError(0, VERSION_REQUESTED, '');
  });
  const branch = { isWanted: wantedBranch(argv), onCommand, above: [{ command: program, flags }] };
  for (const child of tree.commands ?? []) await addCommand(program, child, branch);
  addNotes(program, tree);
  return program;
}

/** Code of the error that ends the parsing of a line with --version. */
export const VERSION_REQUESTED = 'porthole.version';

/** A command on the line and the flags it has. */
interface ParsedCommand {
  command: Command;
  flags: readonly FlagDefinition[];
}

interface Branch {
  isWanted(name: string): boolean;
  onCommand: OnCommand;
  /** The program, then the commands down to the parent. */
  above: readonly ParsedCommand[];
}

/** `help logs search` is `logs search --help`; a line that names no command is left to the parser. */
export function expandHelp(argv: readonly string[], tree: CommandDefinition): readonly string[] {
  const [node = '', program = '', first, ...names] = argv;
  if (first !== 'help' || names.length === 0) return argv;
  let at: CommandDefinition | undefined = tree;
  for (const name of names) at = at?.commands?.find((child) => child.name === name);
  return [node, program, ...names, ...(at ? ['--help'] : [])];
}

/** What people type out of habit, and the command it means here. */
const HABITS: Readonly<Record<string, readonly string[]>> = {
  tail: ['logs'],
  follow: ['logs', '--follow'],
  top: ['logs', 'top'],
  grep: ['logs', 'search'],
  search: ['logs', 'search'],
  ls: ['logs', 'ls'],
  'logs grep': ['logs', 'search'],
  'logs list': ['logs', 'ls'],
  'logs stats': ['logs', 'digest'],
  'logs tail': ['logs'],
  'logs follow': ['logs', '--follow'],
  'nodes list': ['nodes'],
  'nodes ls': ['nodes'],
};

/** The command line that such a word means, and a note that says so; `undefined` if it starts with none. */
export function expandHabit(argv: readonly string[]): { argv: readonly string[]; note: string } | undefined {
  const [node = '', program = '', ...words] = argv;
  const count = words[0] === 'logs' || words[0] === 'nodes' ? 2 : 1;
  const typed = words.slice(0, count).join(' ');
  const meant = Object.hasOwn(HABITS, typed) ? HABITS[typed] : undefined;
  if (meant === undefined) return undefined;
  const note = `"porthole ${typed}" is "porthole ${meant.join(' ')}"`;
  return { argv: [node, program, ...meant, ...words.slice(count)], note };
}

/** `help X` and mistyped commands only need names and descriptions, so unnamed commands are added without flags. */
function wantedBranch(argv: readonly string[]): (name: string) => boolean {
  const words = new Set(argv.slice(2));
  return (name) => words.has(name);
}

async function addCommand(parent: Command, definition: CommandDefinition, branch: Branch): Promise<void> {
  // Positional options: flags after a subcommand belong to it, even if its parent has a flag of the same name.
  const command = parent.command(definition.name).description(definition.about).enablePositionalOptions();
  command.showHelpAfterError(`Run "${commandPath(command)} --help" for usage`);
  if (!branch.isWanted(definition.name)) {
    for (const child of definition.commands ?? []) command.command(child.name).description(child.about);
    return;
  }
  const flags = await loadFlags(definition);
  for (const argument of definition.args ?? []) command.addArgument(toArgument(argument));
  for (const flag of flags) command.addOption(toOption(flag));
  const own = { command, flags };
  const below = { ...branch, above: [...branch.above, own] };
  for (const child of definition.commands ?? []) await addCommand(command, child, below);
  addNotes(command, definition);
  if (!definition.load) return;
  command.action(() => branch.onCommand(definition, command.args, collectFlags(own, branch.above)));
}

/** The flags of a command, also those before its name; what follows it wins. */
function collectFlags(own: ParsedCommand, above: readonly ParsedCommand[]): Record<string, FlagValue> {
  const collected = byLongName(own);
  for (const parent of above.toReversed()) {
    for (const [long, value] of Object.entries(byLongName(parent))) {
      const flag = own.flags.find((known) => known.long === long);
      if (flag) collected[long] = inherit(own.command, flag, { value, after: collected[long] });
      // Flags of the program concern many commands, but not all.
      else if (parent !== above[0]) own.command.error(`error: "${commandPath(own.command)}" has no flag --${long}`);
    }
  }
  return collected;
}

function inherit(
  command: Command,
  flag: FlagDefinition,
  { value, after }: { value: FlagValue; after: FlagValue | undefined },
): FlagValue {
  if (Array.isArray(value) && Array.isArray(after)) return [...value, ...after];
  if (flag.once && after !== undefined) command.error(`error: --${flag.long} is given twice`);
  if (after !== undefined) return after;
  const problem = typeof value === 'string' ? findProblem(value, flag) : undefined;
  if (problem !== undefined)
    command.error(`error: invalid --${flag.long} ${JSON.stringify(value)} for "${commandPath(command)}". ${problem}`);
  return value;
}

/** `porthole logs search`. */
function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}

function toArgument(definition: ArgumentDefinition): Argument {
  const { about, many, check } = definition;
  const argument = new Argument(argumentUsage(definition), about);
  if (check)
    argument.argParser((text: string, before: unknown) =>
      many ? [before, checked(text, check)].flat() : checked(text, check),
    );
  return argument;
}

function toOption({
  long,
  short,
  value,
  many,
  once,
  alone,
  choices,
  check,
  default: byDefault,
  about,
}: FlagDefinition): Option {
  const names = short === undefined ? `--${long}` : `-${short}, --${long}`;
  const shownValue = value === undefined ? '' : alone === undefined ? ` <${value}>` : ` [${value}]`;
  const words = choices ? `: ${choices.join(', ')}` : '';
  const option = new Option(names + shownValue, `${about}${words}${byDefault ? ` (default: ${byDefault})` : ''}`);
  if (alone !== undefined) option.preset(alone);
  const parse = (text: string) => checked(text, (given) => findProblem(given, { choices, check }));
  if (value !== undefined)
    option.argParser((text: string, before: unknown) => {
      if (once && before !== undefined) throw new InvalidArgumentError(`--${long} is given twice.`);
      return many ? [...(Array.isArray(before) ? before : []), parse(text)] : parse(text);
    });
  return option;
}

/** The check decides where there is one: it may accept other names of the choices. */
function findProblem(
  text: string,
  { choices, check }: { [Key in 'choices' | 'check']?: FlagDefinition[Key] | undefined },
): string | undefined {
  return check ? check(text) : notOneOf(text, choices);
}

function notOneOf(text: string, choices: readonly string[] | undefined): string | undefined {
  if (!choices || choices.includes(text)) return undefined;
  return `Expected ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}.`;
}

function checked(text: string, check: (text: string) => string | undefined): string {
  const problem = check(text);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return text;
}

/** Commander stores options under camel-cased names, and `--no-x` as the value `false` of `--x`. */
function byLongName({ command, flags }: ParsedCommand): Record<string, FlagValue> {
  const options: Record<string, FlagValue> = command.opts();
  const named: Record<string, FlagValue> = {};
  for (const { long } of flags) {
    const option = new Option(`--${long}`);
    const value = options[option.attributeName()];
    if (option.negate) {
      if (value === false) named[long] = true;
    } else if (value !== undefined && value !== false) named[long] = value;
  }
  return named;
}
