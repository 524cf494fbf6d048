export { SETTING_DEFINITIONS, type SettingDefinition } from './settings.ts';
