export { StartError } from './errors.ts';
export type { Logger } from './own-log/logger.ts';
export type { PartialSettings, Settings } from './settings/settings.ts';
export { SettingsError } from './settings/settings-error.ts';
export { type RunningNode, type StartNodeOptions, startNode } from './start-node.ts';
