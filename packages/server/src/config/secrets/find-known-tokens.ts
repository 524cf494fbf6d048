import type { Credential } from './mask-ranges.ts';

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

export function findKnownTokens(text: string): Credential[] {
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
