import { type ConfigTree, findTreeSecrets } from './config-tree.ts';
import { findDirectiveSecrets } from './find-directive-secrets.ts';
import { findPairSecrets } from './find-pair-secrets.ts';
import { findUserInfoSecrets } from './find-user-info-secrets.ts';
import { readWholeJson } from './json-fragment.ts';
import { readLines } from './line-fragment.ts';
import type { Credential, MaskRange } from './mask-ranges.ts';
import { secretArguments } from './secret-arguments.ts';

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

/** Tokens with a known format. Each part is bounded, so that matching is linear. */
const TOKENS = [
  'gh[oprsu]_[A-Za-z0-9]{16,255}',
  'github_pat_\\w{20,255}',
  'gl(?:pat|dt|rt|cbt|ptt|agent)-[\\w-]{16,255}',
  'xox[abeoprs]-[\\w-]{10,255}',
  '(?:AKIA|ASIA)[A-Z0-9]{12,32}',
  '[sr]k_(?:live|test)_\\w{10,255}',
  'sk-(?:proj-|ant-)?[\\w-]{24,255}',
  'SG\\.[\\w-]{10,64}\\.[\\w-]{10,128}',
  'npm_[A-Za-z0-9]{20,255}',
  'hv[sbr]\\.[\\w-]{10,255}',
  'AIza[\\w-]{30,64}',
  'ya29\\.[\\w.-]{10,1024}',
  'pypi-[\\w-]{16,1024}',
  'dckr_pat_[\\w-]{16,255}',
  'dop_v1_[a-f0-9]{32,128}',
  'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32,64}',
  'AGE-SECRET-KEY-1[A-Z0-9]{20,100}',
  'S[ACNOU][A-Z2-7]{54,56}',
  'eyJ[\\w-]{8,4096}\\.eyJ[\\w-]{2,8192}\\.[\\w-]{0,2048}',
  // A private key in base64.
  'LS0tLS1CRUdJTi[\\w+/]{4,16384}={0,2}',
];

/** Hashes of passwords: crypt, bcrypt, argon2, and those of LDAP and htpasswd. */
const HASHES = [
  '\\$(?:apr1|1|2[abxy]?|5|6|7|y|gy|argon2(?:i|d|id)|scrypt|pbkdf2(?:-\\w{1,16})?)\\$[^\\s"\',;<]{8,512}',
  '\\{(?:S?SHA(?:256|512)?|S?MD5|CRYPT|PBKDF2[\\w-]{0,16})\\}[\\w+/=$.]{8,512}',
];

/** Webhook URLs, whose path is the secret. */
const HOOKS = [
  'hooks\\.slack\\.com/(?:services|workflows|triggers)/',
  '(?:discord|discordapp)\\.com/api/(?:v\\d+/)?webhooks/\\d+/',
  '[\\w-]{1,64}\\.webhook\\.office\\.com/webhookb2/',
  'outlook\\.office(?:365)?\\.com/webhook/',
  'hooks\\.zapier\\.com/hooks/catch/',
  'api\\.telegram\\.org/bot',
  // Mattermost, Rocket.Chat and others
  '[^\\s/"\']{1,255}/hooks/(?=[\\w-]{20,255}(?:[/?\\s"\'<]|$))',
];

/** Characters before a token that would make it part of another word. */
const KNOWN = new RegExp(`(?<![\\w+/=-])(?:${[...TOKENS, ...HASHES].join('|')})`, 'g');
const HOOK = new RegExp(`//(?:${HOOKS.join('|')})`, 'gi');

function findKnownTokens(text: string): Credential[] {
  const found: Credential[] = [];
  for (const { 0: token, index } of text.matchAll(KNOWN)) {
    found.push({ start: index, end: index + token.length, certain: true });
  }
  for (const { 0: address, index } of text.matchAll(HOOK)) {
    const start = index + address.length;
    // The name of a method follows a bot's token; of the others all of the path counts.
    const end = /telegram/i.test(address) ? /[/?\s"'<]/g : /[?\s"'<]/g;
    end.lastIndex = start;
    const stop = end.exec(text)?.index ?? text.length;
    if (stop > start) found.push({ start, end: stop, certain: true });
  }
  return found;
}

interface FragmentOptions {
  /** Names around the text. */
  path: readonly string[];
  secretKeys: readonly string[];
  isSecretName(name: string): boolean;
  /** A colon may be followed by a sentence. */
  isComment?: boolean;
}

/** Longest word that is taken for an argument. */
const ARGUMENT = /"[^"\r\n]{0,512}"|'[^'\r\n]{0,512}'|[^\s"']+/g;

/** Secrets of a configuration within a text: JSON, YAML, INI, properties, dotenv; and of a command line. */
function findFragmentSecrets(text: string, options: FragmentOptions): Credential[] {
  const found: Credential[] = [];
  const take = (tree: ConfigTree<MaskRange>, path: readonly string[]) =>
    findTreeSecrets(tree, {
      path,
      secretKeys: options.secretKeys,
      onSecret: ({ start, end }, part) => found.push(toCredential({ start, end }, part)),
    });
  const json = readWholeJson(text);
  if (json) take(json, options.path);
  else if (hasLines(text, options))
    for (const { path, tree } of readLines(text)) take(tree, [...options.path, ...path]);
  for (const line of splitLines(text))
    found.push(...findInCommand(line.text, options).map((part) => shift(part, line.start)));
  return found.filter(({ start, end }) => end > start);
}

/** Of a single line, all behind a colon is the value; a connection string has several on its line. */
function hasLines(text: string, { isComment }: FragmentOptions): boolean {
  if (text.includes('\n')) return true;
  return (
    !isComment && /^\s*["']?[\w.-]{1,128}["']?:[ \t]/.test(text) && !/^\W*[\w-]*(?:authorization|cookie)\W/i.test(text)
  );
}

function toCredential(leaf: MaskRange, part: 'whole' | MaskRange): Credential {
  if (part === 'whole') return { ...leaf, certain: true };
  return { start: leaf.start + part.start, end: Math.min(leaf.end, leaf.start + part.end), certain: true };
}

function findInCommand(text: string, { isSecretName }: FragmentOptions): Credential[] {
  if (!/(?:^|\s)["']?-/.test(text)) return [];
  const words = [...text.matchAll(ARGUMENT)].map(({ 0: word, index }) => {
    const isQuoted = /^["']/.test(word) && word.length > 1;
    return { start: isQuoted ? index + 1 : index, end: isQuoted ? index + word.length - 1 : index + word.length };
  });
  const texts = words.map(({ start, end }) => text.slice(start, end));
  return secretArguments(texts, (name) => name.length > 1 && isSecretName(name)).flatMap(({ index, part }) => {
    const word = words[index];
    // The comma of a list within a text; the list itself is parsed elsewhere.
    return word && texts[index] !== ',' ? [toCredential(word, part)] : [];
  });
}

function splitLines(text: string): { text: string; start: number }[] {
  let start = 0;
  return text.split('\n').map((line) => {
    const at = start;
    start += line.length + 1;
    return { text: line, start: at };
  });
}

function shift({ start, end, certain }: Credential, by: number): Credential {
  return { start: start + by, end: end + by, certain };
}
