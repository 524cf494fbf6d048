import { expect, it } from 'vitest';
import { checkTokenRoles } from './flag-checks.ts';

it.each(['viewer', 'config', 'admin', 'viewer,config', 'none'])('%j are roles of a token', (text) => {
  expect(checkTokenRoles(text)).toBeUndefined();
});

it.each(['', 'root', 'viewer,', 'viewer, config', 'viewer,none', 'Viewer'])('%j are none', (text) => {
  expect(checkTokenRoles(text)).toBe('use any of viewer, config, admin, with commas between them, or none');
});
