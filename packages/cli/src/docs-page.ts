import {
  type ArgumentDefinition,
  argumentUsage,
  type CommandDefinition,
  type FlagDefinition,
  loadFlags,
} from './command-definition.ts';
import {
  CONFIG_FLAG,
  CONTEXT_FLAGS,
  FILTER_FLAGS,
  JOURNAL_FLAG,
  MEMBER_FLAGS,
  NODE_FLAGS,
  OUTPUT_FLAGS,
  PAGER_FLAG,
  RECURSIVE_FLAG,
  SHOWN_ZONE_FLAGS,
  ZONE_FLAGS,
} from './shared-flags.ts';

const START = '<!-- commands: made from the program by packages/cli/src/docs-page.ts, do not edit -->';
const END = '<!-- end of commands -->';

/** A command with the flag of this setting has one for every setting; those are documented in settings.md. */
const SETTING_FLAG = 'service-config';

/** Returns the page with its command reference regenerated. Throws if the page lacks the markers. */
export async function updateDocsPage(page: string, tree: CommandDefinition): Promise<string> {
  const [start, end] = [page.indexOf(START), page.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`docs/cli.md needs the lines "${START}" and "${END}"`);
  return `${page.slice(0, start)}${START}\n\n${await commandReference(tree)}\n${page.slice(end)}`;
}

/** Flags that many commands have: described once, under this heading. */
const SHARED: readonly { heading: string; flags: readonly FlagDefinition[] }[] = [
  { heading: 'Filters', flags: FILTER_FLAGS },
  { heading: 'Context', flags: CONTEXT_FLAGS },
  { heading: 'Nodes', flags: MEMBER_FLAGS },
  { heading: 'Time zone', flags: SHOWN_ZONE_FLAGS },
  {
    heading: 'Local files',
    flags: [
      ...ZONE_FLAGS.filter((flag) => !SHOWN_ZONE_FLAGS.includes(flag)),
      RECURSIVE_FLAG,
      CONFIG_FLAG,
      JOURNAL_FLAG,
    ],
  },
  { heading: 'Connection', flags: NODE_FLAGS },
  { heading: 'Output', flags: [...OUTPUT_FLAGS, PAGER_FLAG] },
];

/** Takes the shared flags out of a command's own. A group counts if all of its flags are there, but for the pager. */
function splitShared(flags: readonly FlagDefinition[]): { own: FlagDefinition[]; also: string } {
  const has = (flag: FlagDefinition, among: readonly FlagDefinition[]) =>
    among.some((other) => String(flagRow(other)) === String(flagRow(flag)));
  const groups = SHARED.filter((group) => group.flags.every((flag) => flag === PAGER_FLAG || has(flag, flags)));
  const shared = groups.flatMap((group) => group.flags);
  const links = groups.map(({ heading }) => `[${heading.toLowerCase()}](#${toAnchor(heading)})`);
  const also = links.length > 0 ? `Also the flags of ${links.join(', ')}.` : '';
  return { own: flags.filter((flag) => !has(flag, shared)), also };
}

function sharedSection(): string {
  const tables = SHARED.map(({ heading, flags }) => `#### Flags of ${heading.toLowerCase()}\n\n${flagTable(flags)}`);
  return ['### Flags of many commands', ...tables].join('\n\n');
}

function toAnchor(heading: string): string {
  return `flags-of-${heading.toLowerCase().replaceAll(' ', '-')}`;
}

async function commandReference(tree: CommandDefinition): Promise<string> {
  const sections = [`${sharedSection()}\n`];
  for (const command of tree.commands ?? []) sections.push(...(await commandSections(command, tree.name)));
  return sections.join('\n');
}

async function commandSections(command: CommandDefinition, parent: string): Promise<string[]> {
  const name = `${parent} ${command.name}`;
  const below: string[] = [];
  for (const child of command.commands ?? []) below.push(...(await commandSections(child, name)));
  return command.load ? [await commandSection(command, name), ...below] : below;
}

async function commandSection(command: CommandDefinition, name: string): Promise<string> {
  const { about, args = [], notes = [], examples = [] } = command;
  const flags = await loadFlags(command);
  const hasSettings = flags.some(({ long }) => long === SETTING_FLAG);
  const settings = hasSettings ? await settingFlags() : new Set<string>();
  const { own, also } = splitShared(flags.filter(({ long }) => !settings.has(long)));
  const usage = [name, ...(flags.length > 0 ? ['[flags]'] : []), ...args.map(argumentUsage)].join(' ');
  const parts = [
    `### ${name}`,
    `\`${usage}\`: ${about}.`,
    flagTable(own, args),
    also,
    hasSettings ? 'Plus one flag for every setting of a node: [settings.md](settings.md).' : '',
    ...notes.map((note) => note.replaceAll('\n', '\\\n')),
    examples.length > 0 ? fence(exampleLines(examples)) : '',
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function exampleLines(examples: NonNullable<CommandDefinition['examples']>): string[] {
  const width = Math.max(...examples.map(([line]) => line.length));
  return examples.map(([line, what]) => `${line.padEnd(width)}  # ${what}`);
}

/** Imported on demand: most commands do not need the settings. */
async function settingFlags(): Promise<Set<string>> {
  const { SETTING_DEFINITIONS } = await import('@porthole/server/settings');
  return new Set(SETTING_DEFINITIONS.map(({ flag }) => flag.slice(2)));
}

function argumentRow(argument: ArgumentDefinition): string[] {
  return [code(argumentUsage(argument)), cell(argument.about), ''];
}

function flagRow({ long, short, value, alone, choices, many, default: byDefault, about }: FlagDefinition): string[] {
  const shown = choices?.join('|') ?? value;
  const behind = shown === undefined ? '' : alone === undefined ? ` ${shown}${many ? '...' : ''}` : ` [${shown}]`;
  const names = short === undefined ? `--${long}` : `-${short}, --${long}`;
  return [code(names + behind), cell(about), cell(byDefault ?? '')];
}

function flagTable(flags: readonly FlagDefinition[], args: readonly ArgumentDefinition[] = []): string {
  const first = args.length === 0 ? 'flag' : flags.length === 0 ? 'argument' : 'argument or flag';
  return table([first, 'meaning', 'default'], [...args.map(argumentRow), ...flags.map(flagRow)]);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function fence(lines: readonly string[]): string {
  return ['```sh', ...lines, '```'].join('\n');
}

/** An unescaped bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function code(text: string): string {
  return `\`${cell(text)}\``;
}
