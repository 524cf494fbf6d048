import type { Terminal } from './output/terminal.ts';

export type FlagValue = string | boolean | string[];

/** A parsed command line. */
export class Invocation {
  readonly args: readonly string[];
  readonly terminal: Terminal;
  readonly #flags: Readonly<Record<string, FlagValue>>;

  constructor(args: readonly string[], flags: Readonly<Record<string, FlagValue>>, terminal: Terminal) {
    this.args = args;
    this.#flags = flags;
    this.terminal = terminal;
  }

  get env(): NodeJS.ProcessEnv {
    return process.env;
  }

  /** A copy with some flags replaced. */
  with(flags: Readonly<Record<string, FlagValue>>): Invocation {
    return new Invocation(this.args, { ...this.#flags, ...flags }, this.terminal);
  }

  isOn(flag: string): boolean {
    return this.#flags[flag] === true;
  }

  text(flag: string): string | undefined {
    const value = this.#flags[flag];
    return typeof value === 'string' ? value : undefined;
  }

  texts(flag: string): readonly string[] {
    const value = this.#flags[flag];
    return Array.isArray(value) ? value : [];
  }

  number(flag: string): number | undefined {
    const text = this.text(flag);
    return text === undefined ? undefined : Number(text);
  }

  /** The flags on the command line, by long name. */
  get given(): Readonly<Record<string, FlagValue>> {
    return this.#flags;
  }
}
