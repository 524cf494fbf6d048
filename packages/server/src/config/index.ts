export { type FlatSetting, flattenToml } from './flatten-config.ts';
export { TomlError } from './formats/toml-error.ts';
export { markToml, pickToml, type TomlMark } from './pick-toml.ts';
export { redactToml } from './redact-config.ts';
export { MASK } from './secrets/mask-ranges.ts';
