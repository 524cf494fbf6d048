import { expect, it } from 'vitest';
import { tokenRoles } from './flag-checks.ts';

it.each(['viewer', 'config', 'admin', 'viewer,config', 'none'])('%j are roles of a token', (text) => {
  expect(tokenRoles(text)).toBeUndefined();
});

it.each(['', 'root', 'viewer,', 'viewer, config', 'viewer,none', 'Viewer'])('%j are none', (text) => {
  expect(tokenRoles(text)).toBe('use any of viewer, config, admin, with commas between them, or none');
});
