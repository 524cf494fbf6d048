import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { ArgumentDefinition, CommandDefinition, FlagDefinition } from './command-definition.ts';
import { loadFlags } from './command-definition.ts';
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
    // The definitions already describe values and defaults; commander would repeat them.
    .configureHelp({ optionDescription: ({ description }) => description })
    .enablePositionalOptions()
    .exitOverride();
  const isWanted = wantedBranch(argv);
  for (const child of tree.commands ?? []) await addCommand(program, child, { isWanted, onCommand });
  addNotes(program, tree);
  return program;
}

interface Branch {
  isWanted(name: string): boolean;
  onCommand: OnCommand;
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
  if (definition.alias !== undefined) command.alias(definition.alias);
  if (![definition.name, definition.alias].some((name) => name !== undefined && branch.isWanted(name))) {
    for (const child of definition.commands ?? []) command.command(child.name).description(child.about);
    return;
  }
  const flags = await loadFlags(definition);
  for (const argument of definition.args ?? []) command.addArgument(toArgument(argument));
  for (const flag of flags) command.addOption(toOption(flag));
  for (const child of definition.commands ?? []) await addCommand(command, child, branch);
  addNotes(command, definition);
  if (!definition.load) return;
  command.action(() => branch.onCommand(definition, command.args, byLongName(command.opts(), flags)));
}

/** `porthole logs search`. */
function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}

function addNotes(command: Command, { examples = [], notes = [] }: CommandDefinition): void {
  const width = Math.max(0, ...examples.map(([line]) => line.length));
  const lines = examples.map(([line, about]) => `  ${line.padEnd(width)}  ${about}`);
  const parts = [...notes, ...(lines.length > 0 ? [`Examples:\n${lines.join('\n')}`] : [])];
  if (parts.length > 0) command.addHelpText('after', `\n${parts.join('\n\n')}`);
}

function toArgument({ name, about, optional, many, check }: ArgumentDefinition): Argument {
  const word = many ? `${name}...` : name;
  const argument = new Argument(optional ? `[${word}]` : `<${word}>`, about);
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
  const parse = (text: string) => checked(text, (given) => notOneOf(given, choices) ?? check?.(given));
  if (value !== undefined)
    option.argParser((text: string, before: unknown) =>
      many ? [...(Array.isArray(before) ? before : []), parse(text)] : parse(text),
    );
  return option;
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

/** Commander stores options under camel-cased names. */
function byLongName(options: Record<string, FlagValue>, flags: readonly FlagDefinition[]): Record<string, FlagValue> {
  const named: Record<string, FlagValue> = {};
  for (const { long } of flags) {
    const value = options[new Option(`--${long}`).attributeName()];
    if (value !== undefined) named[long] = value;
  }
  return named;
}
