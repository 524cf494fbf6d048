import { isRole, ROLES } from '@porthole/contract';
import type { SettingKind } from './setting-kind.ts';
import { textKind } from './text-kinds.ts';

/** Only asymmetric algorithms: a verifier cannot sign. Shared secrets (HS*) and `none` are not supported. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** Types of names in a certificate that rules can match. */
const CERTIFICATE_NAMES = ['CN', 'DNS', 'URI', 'EMAIL', 'IP'];

const ROLES_TEXT = `roles are ${ROLES.join(', ')}`;

export function algorithm(): SettingKind<string> {
  return textKind({
    name: 'algorithm',
    noun: 'a signature algorithm with a public key',
    accepted: `one of ${ALGORITHMS.join(', ')}; never "none" or a shared secret`,
    parse: (text) => (ALGORITHMS.includes(text) ? text : undefined),
  });
}

/** `ops-*=viewer+config`: maps a value to roles. */
export function roleRule(): SettingKind<string> {
  return textKind({
    name: 'role rule',
    noun: 'a role rule',
    accepted: `like "ops-*=viewer+config", "*" stands for any characters; ${ROLES_TEXT}`,
    parse: (text) => (isRoleRule(text) ? text : undefined),
  });
}

/** `DNS:*.ops.example.org=viewer`: maps a name in a certificate to roles. */
export function certificateRule(): SettingKind<string> {
  const types = CERTIFICATE_NAMES.map((type) => `${type}:`);
  return textKind({
    name: 'certificate rule',
    noun: 'a certificate rule',
    accepted: `like "CN:ops-*=viewer" or "DNS:*.example.org=admin", with ${types.join(' ')}; ${ROLES_TEXT}`,
    parse: (text) =>
      types.some((type) => text.startsWith(type) && isRoleRule(text.slice(type.length))) ? text : undefined,
  });
}

/** The name of a file, with `*` and `?`. */
export function filePattern(): SettingKind<string> {
  return textKind({
    name: 'file pattern',
    noun: 'a file pattern',
    accepted: 'the name of a file, "*" stands for any characters and "?" for one; no "/"',
    parse: (text) => (text.trim() === '' || text.includes('/') ? undefined : text),
  });
}

/** The URL that keys are fetched from. */
export function keysUrl(): SettingKind<string> {
  return textKind({
    name: 'URL',
    noun: 'a URL',
    accepted: 'like "https://id.example.org/keys", http or https, without a user and a password, or ""',
    parse: (text) => {
      if (text === '') return '';
      if (!/^https?:\/\/[^@\\\s#]+$/i.test(text) || !URL.canParse(text)) return undefined;
      return text;
    },
  });
}

/** The path to a claim: `groups`, `realm_access.roles`. */
export function claimPath(): SettingKind<string> {
  return textKind({
    name: 'claim',
    noun: 'a claim',
    accepted: 'the name of a claim, like "groups", or a path to one, like "realm_access.roles"',
    parse: (text) => (/^[^.\s]+(?:\.[^.\s]+){0,7}$/.test(text) ? text : undefined),
  });
}

function isRoleRule(text: string): boolean {
  const equals = text.lastIndexOf('=');
  return (
    equals > 0 &&
    text
      .slice(equals + 1)
      .split('+')
      .every(isRole)
  );
}
