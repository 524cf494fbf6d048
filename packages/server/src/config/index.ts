export { readConfigFiles } from './config-files.ts';
export { type ConfigView, splitSource, viewConfig } from './config-view.ts';
export { type FlatSetting, flattenToml } from './flatten-config.ts';
export { TomlError } from './formats/toml-error.ts';
export { markToml, pickToml, type TomlMark } from './pick-toml.ts';
export { redactToml } from './redact-config.ts';
export { MASK } from './secrets/mask-ranges.ts';
