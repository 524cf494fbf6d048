import type { Action } from '../../state/actions.ts';
import { preferences } from '../../state/preferences.ts';
import { sheet } from '../../state/sheet.ts';

/** What can be done on every page. */
export const SHELL_ACTIONS: readonly Action[] = [
  { name: 'Show all keys', keys: '?', run: () => sheet.set('keys') },
  { name: 'Show times in UTC', run: () => preferences.zone.set('utc') },
  { name: 'Show times of this browser', run: () => preferences.zone.set('local') },
  { name: 'Use the light theme', run: () => preferences.theme.set('light') },
  { name: 'Use the dark theme', run: () => preferences.theme.set('dark') },
  { name: "Use the system's theme", run: () => preferences.theme.set('system') },
];
