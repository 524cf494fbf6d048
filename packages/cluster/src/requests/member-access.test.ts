import type { MembershipState } from '@porthole/contract';
import { expect, it } from 'vitest';
import { MemberAccess } from './member-access.ts';

/** Responds to everything as a Porthole node responds to a health check, and notes the credentials it gets. */
function impostor() {
  const shown: (string | null)[] = [];
  const fetch = async (_input: unknown, init?: RequestInit) => {
    shown.push(new Headers(init?.headers).get('authorization'));
    return new Response('{"status":"ok"}');
  };
  return { shown, fetch: fetch as typeof globalThis.fetch };
}

it.each<[MembershipState['kind'], boolean]>([
  ['lindb', false],
  ['static', true],
  ['etcd', true],
])('a member of a list of kind %s that responds like a Porthole node gets the token: %s', async (kind, isShown) => {
  const { shown, fetch } = impostor();
  const access = new MemberAccess({ fetch, token: () => 'ph_token' }, () => kind);
  const { signal } = new AbortController();
  const init = { method: 'GET', headers: {}, redirect: 'manual', cache: 'no-store', signal } as const;
  await access.fetchFor({ url: 'http://10.0.0.1:1' })('http://10.0.0.1:1/api/v1/log/list', init);
  expect(shown.includes('Bearer ph_token')).toBe(isShown);
});
