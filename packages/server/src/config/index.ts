export { redactToml } from './redact-toml.ts';
export { MASK } from './secrets/mask-ranges.ts';
export { type FlatSetting, flattenToml } from './toml/flatten-toml.ts';
export { markToml, type TomlMark } from './toml/mark-toml.ts';
export { pickToml } from './toml/pick-toml.ts';
export { TomlError } from './toml/toml-error.ts';
