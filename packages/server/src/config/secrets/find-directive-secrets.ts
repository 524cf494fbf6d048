import type { SecretName } from './find-pair-secrets.ts';
import type { Credential } from './mask-ranges.ts';

/** A directive with a secret in the last group of its pattern. The other groups are names that must be secret. */
interface Directive {
  pattern: RegExp;
  /** Texts without it are skipped. */
  needs: RegExp;
  /** Group with a name that must be that of a secret. */
  name?: number;
}

/** nginx: to whom a request is passed on. */
const NOT_SECRETS = /^(?:proxy|fastcgi|uwsgi|scgi|grpc|memcached)_pass$/;

const DIRECTIVES: readonly Directive[] = [
  // .netrc
  { needs: /\bmachine\s/, pattern: /\bpassword\s{1,8}(\S{1,512})/g },
  // HAProxy
  {
    needs: /password/,
    pattern: /^[ \t]{0,64}user[ \t]{1,8}\S{1,128}[ \t]{1,8}(?:insecure-)?password[ \t]{1,8}(\S{1,512})/gm,
  },
  { needs: /auth/, pattern: /\bstats[ \t]{1,8}auth[ \t]{1,8}[^\s:]{1,128}:(\S{1,512})/g },
  // Redis Sentinel
  { needs: /auth-pass/, pattern: /\bauth-pass[ \t]{1,8}\S{1,128}[ \t]{1,8}(\S{1,512})/g },
  // Kafka: users of the server's login module
  { needs: /LoginModule/, pattern: /\buser_[\w.-]{1,128}[ \t]{0,8}=[ \t]{0,8}"([^"\r\n]{1,512})"/g },
  // nginx, Apache, HAProxy: headers that are set
  {
    needs: /header/i,
    pattern:
      /\b(?:proxy_set_header|add_header|set-header|RequestHeader[ \t]set)[ \t]{1,8}["']?([\w-]{1,128})["']?[ \t]{1,8}["']?(?:(?:bearer|basic)[ \t]{1,8})?([^\s;"']{1,512})/gi,
    name: 1,
  },
  // A name and one value on a line of its own: Redis, Fluent Bit
  { needs: /\n/, pattern: /^[ \t]{0,64}([\w.-]{2,128})[ \t]{1,32}([^\s;=:]\S{0,511}?);?[ \t\r]{0,8}$/gm, name: 1 },
  // Apache, Dockerfiles, FastCGI: variables of the environment; nginx: its own
  {
    needs: /\n/,
    pattern:
      /^[ \t]{0,64}(?:SetEnv|ENV|env|(?:fastcgi|uwsgi|scgi)_param)[ \t]{1,8}([\w.-]{1,128})[ \t]{1,8}["']?([^\s;"']{1,512})/gm,
    name: 1,
  },
  { needs: /\$/, pattern: /^[ \t]{0,64}set[ \t]{1,8}\$([\w]{1,128})[ \t]{1,8}["']?([^\s;"']{1,512})/gm, name: 1 },
  // .pgpass: host, port, database, user, password
  { needs: /:/, pattern: /^[^\s:#]{1,255}:(?:\d{1,5}|\*):[^\s:]{1,128}:[^\s:]{1,128}:(\S{1,512})$/gm },
  // SQL
  {
    needs: /'/,
    pattern:
      /\b(?:identified(?:[ \t]+with[ \t]+\S{1,64})?[ \t]+(?:by|as)|password|secret|token)[ \t]{1,8}(?:password[ \t]{1,8})?'((?:[^'\r\n]|''){1,512})'/gi,
  },
  // Oracle
  { needs: /@/, pattern: /(?:^|:thin:|:oci:)[A-Za-z][\w$#]{0,63}\/([^\s@/"']{1,128})@(?=\/\/|[\w.-]{1,255}:\d)/g },
  // XML
  { needs: /<\//, pattern: /<([\w.-]{1,128})(?:\s[^<>]{0,256})?>([^<>]{1,4096})<\//g, name: 1 },
  {
    needs: /<\//,
    pattern: /<(?:name|key)>\s{0,64}([\w.-]{1,128})\s{0,64}<\/(?:name|key)>\s{0,64}<value>([^<>]{1,4096})<\//gi,
    name: 1,
  },
  {
    needs: /</,
    pattern: /<[\w.-]{1,64}\s[^<>]{0,256}?\b(?:name|key)="([\w.:-]{1,128})"\s[^<>]{0,256}?\bvalue="([^"<>]{1,4096})"/gi,
    name: 1,
  },
];

/** Secrets in the configuration languages of servers and databases, which have no `=` or `:`. */
export function findDirectiveSecrets(text: string, isSecretName: SecretName): Credential[] {
  const found: Credential[] = [];
  for (const { needs, pattern, name } of DIRECTIVES) {
    if (!needs.test(text)) continue;
    for (const match of text.matchAll(pattern)) {
      const secret = match.at(-1) ?? '';
      if (name !== undefined && !isSecretName(match[name] ?? '')) continue;
      if (NOT_SECRETS.test(match[name ?? 0] ?? '')) continue;
      const start = match.index + match[0].lastIndexOf(secret);
      if (secret.trim() !== '') found.push({ start, end: start + secret.length, certain: true });
    }
  }
  return [...found, ...findAclSecrets(text)];
}

/** Redis: passwords (`>`, `<`) and their hashes (`#`, `!`) in an access control list. */
function findAclSecrets(text: string): Credential[] {
  const found: Credential[] = [];
  for (const { 0: line, index } of text.matchAll(/^[ \t]*user[ \t].*$/gm)) {
    if (!/[ \t](?:on|off)(?:[ \t]|$)/.test(line)) continue;
    for (const word of line.matchAll(/[ \t][<>#!](\S+)/g)) {
      const start = index + word.index + 2;
      found.push({ start, end: start + (word[1]?.length ?? 0), certain: true });
    }
  }
  return found;
}
