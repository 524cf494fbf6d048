import { PortholeError } from '@porthole/contract';

const MEMBER_ID = /^[A-Za-z0-9.:_-]{1,128}$/;

/** Throws PARAMETER_INVALID for what cannot name a member. */
export function checkMemberId(id: string): string {
  // Ids stand in paths of URLs and are keys of answers: there, these mean something else.
  const isSpecial = id === '.' || id === '..' || id in Object.prototype;
  if (!MEMBER_ID.test(id) || isSpecial) {
    throw new PortholeError(
      'PARAMETER_INVALID',
      `${quote(id)} is no id of a member: letters, digits and .:_-, at most 128`,
    );
  }
  return id;
}

/** What others wrote, short and harmless enough for a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}...` : text);
}
