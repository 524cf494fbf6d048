import { hasCredentials, hasJwtKeys } from '../settings/auth-conflicts.ts';
import { isLoopbackHost } from '../settings/is-loopback-host.ts';
import type { Settings } from '../settings/settings.ts';
import { type Look, ok, warning } from './finding.ts';
import type { Subject } from './subject.ts';

/** Who could read what the node shows. An outside address without credentials is refused with the settings already. */
export async function lookAtAccess({ settings: { http, auth, tls } }: Subject): Promise<Look[]> {
  if (isLoopbackHost(http.host)) {
    const who = hasCredentials(auth) ? `who has ${shown(auth)}` : 'everyone on it';
    return [ok(`${http.host} serves this machine only, ${who}`)];
  }
  if (!hasCredentials(auth))
    return [
      warning(
        `${http.host} serves everyone who can reach this machine (auth.allow-anonymous)`,
        'set auth.token-file to a file made with "porthole token NAME >> FILE", or http.host to 127.0.0.1',
      ),
    ];
  if (tls.certFile === '')
    return [
      warning(
        `${http.host} asks other machines for ${shown(auth)}, but without TLS: tokens and logs can be read on the way`,
        'set tls.cert-file and tls.key-file, or put a proxy with TLS in front of it',
      ),
    ];
  return [ok(`${http.host} asks other machines for ${shown(auth)}, over TLS`)];
}

function shown(auth: Settings['auth']): string {
  const kinds = [
    ...(auth.tokenFile === '' ? [] : ['a token']),
    ...(hasJwtKeys(auth) ? ['a JWT'] : []),
    ...(auth.clientCaFile === '' ? [] : ['a certificate']),
  ];
  return kinds.join(' or ');
}
