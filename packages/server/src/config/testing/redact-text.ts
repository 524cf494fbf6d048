import { findCredentials } from '../secrets/find-credentials.ts';
import { maskRanges } from '../secrets/mask-ranges.ts';
import { isSecretKey } from '../secrets/secret-keys.ts';

/** A string with the credentials in it masked: passwords in URLs and connection strings, tokens, private keys. */
export function redactText(text: string, options: { secretKeys?: readonly string[] } = {}): string {
  const { secretKeys = [] } = options;
  return maskRanges(
    text,
    findCredentials(text, { path: [], secretKeys, isSecretName: (name) => isSecretKey([name], secretKeys) }),
  );
}
