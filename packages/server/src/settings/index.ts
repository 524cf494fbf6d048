export { ownVersion } from '../version.ts';
export { SETTING_DEFINITIONS, type SettingDefinition } from './settings.ts';
