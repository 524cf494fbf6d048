import { expect, it } from 'vitest';
import { checkTokenRoles } from './flag-checks.ts';

it.each(['viewer', 'config', 'admin', 'viewer,config', 'none'])('%j is accepted as token roles', (text) => {
  expect(checkTokenRoles(text)).toBeUndefined();
});

it.each(['', 'root', 'viewer,', 'viewer, config', 'viewer,none', 'Viewer'])('%j is rejected', (text) => {
  expect(checkTokenRoles(text)).toBe('Expected a comma-separated list of viewer, config, admin, or none.');
});
