import { PortholeError } from '@porthole/contract';

const MEMBER_ID = /^[A-Za-z0-9.:_-]{1,128}$/;

/** Throws PARAMETER_INVALID for an invalid member id. */
export function checkMemberId(id: string): string {
  // Ids are used in URL paths and as object keys, where these have a special meaning.
  const isSpecial = id === '.' || id === '..' || id in Object.prototype;
  if (!MEMBER_ID.test(id) || isSpecial) {
    throw new PortholeError(
      'PARAMETER_INVALID',
      `invalid member id ${quote(id)}: expected at most 128 letters, digits and .:_-`,
    );
  }
  return id;
}

/** Untrusted text, shortened and escaped for a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}...` : text);
}
