/** The configuration of a program: TOML text or an object, whose values can be marked with `mark`. */
export type ProgramConfig = string | object;

export type ConfigOption = ProgramConfig | (() => ProgramConfig | Promise<ProgramConfig>);
