export { type FlatSetting, flattenToml } from './flatten-toml.ts';
export { markToml, pickToml, type TomlMark } from './pick-toml.ts';
export { redactToml } from './redact-toml.ts';
export { MASK } from './secrets/mask-ranges.ts';
export { TomlError } from './toml/toml-error.ts';
