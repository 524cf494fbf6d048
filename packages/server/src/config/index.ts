export { type FlatSetting, flattenToml } from './flatten-toml.ts';
export { markToml, type TomlMark } from './mark-toml.ts';
export { MASK } from './mask-ranges.ts';
export { pickToml } from './pick-toml.ts';
export { redactToml } from './redact-toml.ts';
export { TomlError } from './toml-error.ts';
