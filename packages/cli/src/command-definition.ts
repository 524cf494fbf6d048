import type { Invocation } from './invocation.ts';

/** What shells complete a value with. */
export type Completion = 'file' | 'directory' | readonly string[];

export interface FlagDefinition {
  /** Without its dashes. */
  long: string;
  short?: string;
  /** What stands behind the flag; without it the flag is a switch. */
  value?: string;
  /** May be given several times. */
  many?: true;
  /** The value may be left out; the flag alone means this one. */
  alone?: string;
  /** The only words it can be. */
  choices?: readonly string[];
  complete?: Completion;
  /** What is wrong with a value, or `undefined`. */
  check?: (text: string) => string | undefined;
  /** Told in help and docs; the command itself knows it. */
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

/** One command: help, completion, the docs page and the parser are all made from this. */
export interface CommandDefinition {
  name: string;
  about: string;
  args?: readonly ArgumentDefinition[];
  /** A function where finding out costs time that other commands should not pay. */
  flags?: readonly FlagDefinition[] | (() => Promise<readonly FlagDefinition[]>);
  /** Command lines and what they do. */
  examples?: readonly (readonly [string, string])[];
  /** Paragraphs under the flags. */
  notes?: readonly string[];
  commands?: readonly CommandDefinition[];
  /** Loads what the command needs, only when it runs. Absent: it only has commands of its own. */
  load?: () => Promise<CommandModule>;
}

export interface CommandModule {
  /** Does the work; resolves with the exit code. */
  run(invocation: Invocation): Promise<number>;
}

export async function loadFlags({ flags = [] }: CommandDefinition): Promise<readonly FlagDefinition[]> {
  return typeof flags === 'function' ? await flags() : flags;
}
