import { findDirectiveSecrets } from './find-directive-secrets.ts';
import { type FragmentOptions, findFragmentSecrets } from './find-fragment-secrets.ts';
import { findKnownTokens } from './find-known-tokens.ts';
import { findPairSecrets } from './find-pair-secrets.ts';
import { findUserInfoSecrets } from './find-user-info-secrets.ts';
import type { Credential } from './mask-ranges.ts';

/** Length from which the word after a scheme is a token and not part of a sentence ("Basic auth"); shorter with a digit. */
const TOKEN_LENGTH = 16;
const TOKEN_WITH_DIGIT_LENGTH = 8;

/**
 * Secrets within a text that is not a secret itself: passwords in URLs, connection strings and command lines, secret query
 * parameters, tokens, private keys, and configurations in other languages. One pass each, linear in the length of the
 * text.
 */
export function findCredentials(text: string, options: FragmentOptions): Credential[] {
  // Shorter than the shortest secret with its marker.
  if (text.length < 3) return [];
  return [
    ...findUserInfoSecrets(text),
    ...findPairSecrets(text, options.isSecretName),
    ...findSchemeTokens(text),
    ...findPrivateKeys(text),
    ...findKnownTokens(text),
    ...findDirectiveSecrets(text, options.isSecretName),
    ...findFragmentSecrets(text, options),
  ];
}

function findSchemeTokens(text: string): Credential[] {
  const found: Credential[] = [];
  const first = text.length - text.trimStart().length;
  const last = text.trimEnd().length;
  for (const match of text.matchAll(/\b(?:bearer|basic|digest|negotiate)[ \t]+([\w.~+/=-]+)/gi)) {
    const token = match[1] ?? '';
    const end = match.index + match[0].length;
    const isAll = match.index === first && end === last;
    const isToken =
      token.length >= TOKEN_LENGTH || (token.length >= TOKEN_WITH_DIGIT_LENGTH && /[\d=]/.test(token)) || isAll;
    if (isToken) found.push({ start: end - token.length, end, certain: !isAll || token.length >= TOKEN_LENGTH });
  }
  return found;
}

/** The lines between BEGIN and END; to the end of the text when no END follows. */
function findPrivateKeys(text: string): Credential[] {
  const found: Credential[] = [];
  let end = 0;
  for (const match of text.matchAll(/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g)) {
    if (match.index < end) continue;
    const start = match.index + match[0].length;
    const marker = text.indexOf('-----END', start);
    end = marker < 0 ? text.length : marker;
    if (text.slice(start, end).trim() !== '') found.push({ start, end, certain: true });
  }
  return found;
}
