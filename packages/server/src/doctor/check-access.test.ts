import { expect, test } from 'vitest';
import { checkAccess } from './check-credentials.ts';
import { runCheck } from './testing/run-check.ts';

const outside = { host: '0.0.0.0' };

test.each([
  [{}, 'ok', '127.0.0.1 serves this machine only, without credentials'],
  [{ auth: { tokenFile: 'tokens' } }, 'ok', '127.0.0.1 serves this machine only, with a token'],
  [
    {
      http: outside,
      tls: { certFile: 'c', keyFile: 'k' },
      auth: { clientCaFile: 'ca', clientRoles: ['CN:a=viewer'], tokenFile: 't' },
    },
    'ok',
    '0.0.0.0 requires a token or a certificate, over TLS',
  ],
  [
    { http: outside, auth: { jwksFile: 'k', jwtIssuer: 'i', jwtAudience: 'a', jwtRoles: ['x=viewer'] } },
    'warning',
    '0.0.0.0 requires a JWT, but not TLS: tokens and logs can be read in transit',
  ],
  [
    { http: outside, auth: { allowAnonymous: true } },
    'warning',
    '0.0.0.0 serves everyone who can reach this machine, without credentials (auth.allow-anonymous)',
  ],
  [
    { http: outside, auth: { tokenFile: 'tokens' } },
    'warning',
    '0.0.0.0 requires a token, but not TLS: tokens and logs can be read in transit',
  ],
  [
    { http: outside, auth: { tokenFile: 'tokens' }, tls: { certFile: 'c', keyFile: 'k' } },
    'ok',
    '0.0.0.0 requires a token, over TLS',
  ],
])('%j is %s', async (settings, state, detail) => {
  expect(await runCheck(checkAccess, { settings })).toMatchObject([{ state, detail }]);
});
