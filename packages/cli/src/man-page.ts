import {
  type ArgumentDefinition,
  argumentUsage,
  type CommandDefinition,
  type FlagDefinition,
  loadFlags,
} from './command-definition.ts';

/* The manual as `man` reads it: a page for each command, as git has them, so that `man porthole-logs-search` finds it. */

interface Edition {
  version: string;
  /** `2026-11-15`. */
  date: string;
}

/** The pages by file name. */
export async function manPages(tree: CommandDefinition, edition: Edition): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const add = async (command: CommandDefinition, above: readonly string[]) => {
    const names = [...above, command.name];
    pages.set(`${names.join('-')}.1`, await manPage(command, names, edition));
    for (const child of command.commands ?? []) await add(child, names);
  };
  await add(tree, []);
  return pages;
}

async function manPage(
  command: CommandDefinition,
  names: readonly string[],
  { version, date }: Edition,
): Promise<string> {
  const { about, args = [], commands = [], notes = [], examples = [] } = command;
  const flags = await loadFlags(command);
  const page = names.join('-');
  const usage = [bold(names.join(' ')), ...(flags.length > 0 ? ['[flags]'] : []), ...args.map(argumentUsage)];
  const subcommands = commands.map((child) => [reference([...names, child.name]), plain(child.about)]);
  return [
    `.TH ${page.toUpperCase()} 1 ${date} "${names[0]} ${version}"`,
    // Words that cannot be broken, like paths, would leave gaps in lines of even width.
    '.ad l',
    ...section('NAME', [`${escaped(page)} \\- ${plain(about)}`]),
    ...section('SYNOPSIS', [
      ...(command.load === undefined ? [] : [usage.map((word, at) => (at === 0 ? word : plain(word))).join(' ')]),
      ...(command.load === undefined || commands.length === 0 ? [] : ['.br']),
      ...(commands.length === 0 ? [] : [`${bold(names.join(' '))} ${italic('command')} [flags]`]),
    ]),
    ...section('DESCRIPTION', [
      ...paragraph(`${about.charAt(0).toUpperCase()}${about.slice(1)}${about.endsWith('.') ? '' : '.'}`),
      ...notes.flatMap((note) => ['.PP', ...paragraph(note)]),
    ]),
    ...section('COMMANDS', subcommands.flatMap(item)),
    ...section('ARGUMENTS', args.map(argumentItem).flatMap(item)),
    ...section('OPTIONS', flags.map(flagItem).flatMap(item)),
    ...section('EXAMPLES', examples.map(([line, what]) => [bold(line), plain(what)]).flatMap(item)),
    ...section('SEE ALSO', names.length > 1 ? [reference(names.slice(0, -1))] : []),
    '',
  ].join('\n');
}

/** A section without content is left out. */
function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`.SH ${title}`, ...lines];
}

function item([term = '', text = '']: readonly string[]): string[] {
  return ['.TP', term, text];
}

function argumentItem(argument: ArgumentDefinition): string[] {
  return [italic(argumentUsage(argument)), plain(argument.about)];
}

function flagItem({ long, short, value, alone, choices, many, default: byDefault, about }: FlagDefinition): string[] {
  const names = [...(short === undefined ? [] : [`-${short}`]), `--${long}`].map(bold).join(', ');
  const shown = choices?.join('|') ?? value;
  const behind = shown === undefined ? '' : alone === undefined ? ` ${italic(shown)}` : ` [${italic(shown)}]`;
  const suffix = byDefault === undefined || byDefault === '' ? '' : ` (default: ${byDefault})`;
  return [`${names}${behind}${many ? '...' : ''}`, plain(about + suffix)];
}

/** Each line stays a line. */
function paragraph(text: string): string[] {
  return text.split('\n').flatMap((line, at) => (at === 0 ? [plain(line)] : ['.br', plain(line)]));
}

/** `porthole-logs(1)`. */
function reference(names: readonly string[]): string {
  return `${bold(names.join('-'))}(1)`;
}

function bold(text: string): string {
  return `\\fB${escaped(text)}\\fR`;
}

function italic(text: string): string {
  return `\\fI${escaped(text)}\\fR`;
}

/** Text with code in backquotes. A line that begins with a dot or a quote would be a request to the formatter. */
function plain(text: string): string {
  const marked = text
    .split('`')
    .map((part, at) => (at % 2 === 1 ? bold(part) : escaped(part)))
    .join('');
  return /^[.']/.test(marked) ? `\\&${marked}` : marked;
}

const SPECIAL: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '^': '\\(ha',
  '~': '\\(ti',
};

/** Characters that the formatter would replace, and those that are not ASCII, by their names. */
function escaped(text: string): string {
  return text.replace(
    /[\\\-'^~]|[^\0-\x7f]/gu,
    (found) => SPECIAL[found] ?? `\\[u${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}
