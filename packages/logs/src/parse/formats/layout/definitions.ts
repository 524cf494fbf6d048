import { BROKER_LAYOUTS } from './broker-layouts.ts';
import { DATABASE_LAYOUTS } from './database-layouts.ts';
import { PROXY_LAYOUTS } from './proxy-layouts.ts';
import { RUNTIME_LAYOUTS } from './runtime-layouts.ts';
import { FALLBACK_LAYOUTS, SYSTEM_LAYOUTS } from './system-layouts.ts';

/** Formats that are described by layouts, specific before general. Each has a fixture of its name. */
export const LAYOUT_DEFINITIONS = [
  ...DATABASE_LAYOUTS,
  ...BROKER_LAYOUTS,
  ...PROXY_LAYOUTS,
  ...RUNTIME_LAYOUTS,
  ...SYSTEM_LAYOUTS,
];

export type LayoutName = (typeof LAYOUT_DEFINITIONS)[number]['name'] | FallbackName;

export type FallbackName = (typeof FALLBACK_LAYOUTS)[number]['name'];

export { FALLBACK_LAYOUTS };
