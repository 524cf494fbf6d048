import type { Invocation } from './invocation.ts';

/** Values that only the program knows, when they are completed. */
export type DynamicCompletion =
  | 'context'
  /** Id of a node of the cluster. */
  | 'node'
  /** A log of the node, or `NODE:FILE`. */
  | 'log'
  /** The same, or a local file. */
  | 'source'
  /** Key or table of a configuration, or a local file. */
  | 'key'
  /** Name of a field of the node's records. */
  | 'field'
  /** A query by field. */
  | 'query'
  /** Value of the field that the line names. */
  | 'value'
  /** `file:line` of the code that logs. */
  | 'location'
  | 'component'
  | 'role'
  /** `name=value` of a node. */
  | 'label'
  | 'label-name'
  | 'zone'
  /** Address of a node that a context names. */
  | 'url';

/** How shells complete a value. */
export type Completion = 'file' | 'directory' | DynamicCompletion | readonly string[];

/** Whether local files are offered as well. */
export function offersFiles(completion: Completion | undefined): boolean {
  return completion === 'file' || completion === 'source' || completion === 'key';
}

export function isDynamic(completion: Completion | undefined): completion is DynamicCompletion {
  return typeof completion === 'string' && completion !== 'file' && completion !== 'directory';
}

export interface FlagDefinition {
  /** Without its dashes. */
  long: string;
  short?: string;
  /** Placeholder of the value in help; a flag without one is a switch. */
  value?: string;
  /** The flag may be repeated. */
  many?: true;
  /** Giving it twice is an error: the first one would be ignored. */
  once?: true;
  /** The value is optional; this one applies when the flag is given alone. */
  alone?: string;
  /** The allowed values; with a check, those to show. */
  choices?: readonly string[];
  complete?: Completion;
  /** Returns what is wrong with a value, or `undefined`. */
  check?: (text: string) => string | undefined;
  /** Shown in help and docs only; the command applies it itself. */
  default?: string;
  about: string;
}

export interface ArgumentDefinition {
  name: string;
  about: string;
  optional?: true;
  many?: true;
  complete?: Completion;
  check?: (text: string) => string | undefined;
}

/** One command. Help, completion, the docs page and the parser are generated from it. */
export interface CommandDefinition {
  name: string;
  about: string;
  args?: readonly ArgumentDefinition[];
  /** A function where loading them takes time that other commands should not spend. */
  flags?: readonly FlagDefinition[] | (() => Promise<readonly FlagDefinition[]>);
  /** Pairs of a command line and what it does. */
  examples?: readonly (readonly [string, string])[];
  /** Paragraphs shown below the flags. */
  notes?: readonly string[];
  /** Output longer than the terminal is shown with a pager. */
  isPaged?: true;
  commands?: readonly CommandDefinition[];
  /** Imports the implementation when the command runs. Absent where a command only groups subcommands. */
  load?: () => Promise<CommandModule>;
}

export interface CommandModule {
  /** Runs the command and resolves with its exit code. */
  run(invocation: Invocation): Promise<number>;
}

export async function loadFlags({ flags = [] }: CommandDefinition): Promise<readonly FlagDefinition[]> {
  return typeof flags === 'function' ? await flags() : flags;
}

/** `<file>`, `[file]` or `[file...]`. */
export function argumentUsage({ name, optional, many }: ArgumentDefinition): string {
  const word = many ? `${name}...` : name;
  return optional ? `[${word}]` : `<${word}>`;
}
