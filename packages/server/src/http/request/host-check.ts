import { isIP } from 'node:net';
import { HttpRefusal } from '../response/problem-response.ts';

/**
 * Refuses host names that are not the node's: a page of another site can make a browser resolve its own name to this
 * address (DNS rebinding) and would then read our responses as its own. IP addresses cannot be rebound and are accepted.
 */
export function createHostCheck(ownNames: readonly string[]): (host: string | undefined) => void {
  const allowed = new Set(['localhost', ...ownNames.filter((name) => name !== '').map((name) => name.toLowerCase())]);
  return (host) => {
    if (host === undefined || allowed.has('*')) return;
    const name = hostName(host);
    if (isIP(name) !== 0 || allowed.has(name) || name.endsWith('.localhost')) return;
    throw new HttpRefusal(
      'HOST_NOT_ALLOWED',
      `the host name ${JSON.stringify(name.slice(0, 255))} is not one of this node's; add it to http.allowed-hosts`,
      {},
    );
  };
}

function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](:\d*)?$/.exec(host);
  const name = bracketed?.[1] ?? host.replace(/:\d*$/, '');
  return name.toLowerCase().replace(/\.$/, '');
}
