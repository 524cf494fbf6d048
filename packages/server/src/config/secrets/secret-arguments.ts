import type { TextRange } from '../formats/config-document.ts';

/** A secret among arguments: the whole of one, or a part of it. */
export interface SecretArgument {
  index: number;
  part: 'whole' | TextRange;
}

interface Program {
  /** Flags of one letter whose value is a password. */
  flags?: string;
  /** Flags with the password right behind them, as in `-pSECRET`. */
  glued?: string;
  /** Flags of one letter whose value is `user:password`, and those with it right behind them. */
  userInfo?: readonly string[];
  gluedUserInfo?: string;
}

const MYSQL: Program = { glued: 'p' };
const MONGO: Program = { flags: 'p' };
const LDAP: Program = { flags: 'w' };
const SNMP: Program = { flags: 'cAX' };

/**
 * Programs that take passwords by a flag of one letter. The letter alone says nothing: `-p` is a port to ssh, and a
 * published port to docker.
 */
const PROGRAMS: Readonly<Record<string, Program>> = {
  'redis-cli': { flags: 'a' },
  ...Object.fromEntries(['mysql', 'mysqldump', 'mysqladmin', 'mysqlimport', 'mysqlpump'].map((name) => [name, MYSQL])),
  ...Object.fromEntries(['mariadb', 'mariadb-dump', 'mariadb-admin', '7z', '7za'].map((name) => [name, MYSQL])),
  ...Object.fromEntries(['mongo', 'mongosh', 'mongodump', 'mongorestore'].map((name) => [name, MONGO])),
  ...Object.fromEntries(
    ['mongoexport', 'mongoimport', 'cqlsh', 'rabbitmqadmin', 'sshpass', 'beeline'].map((name) => [name, MONGO]),
  ),
  ...Object.fromEntries(
    ['ldapsearch', 'ldapmodify', 'ldapadd', 'ldapdelete', 'ldapwhoami', 'basic_ldap_auth'].map((name) => [name, LDAP]),
  ),
  ...Object.fromEntries(['snmpget', 'snmpwalk', 'snmpbulkwalk', 'snmptrap'].map((name) => [name, SNMP])),
  ...Object.fromEntries(
    ['sqlcmd', 'bcp', 'isql', 'mosquitto_pub', 'mosquitto_sub', 'zip', 'unzip', 'ipmitool'].map((name) => [
      name,
      { flags: 'P' },
    ]),
  ),
  'docker login': { flags: 'p' },
  'podman login': { flags: 'p' },
  curl: { userInfo: ['-u', '-U'], gluedUserInfo: 'uU' },
  http: { userInfo: ['-a'] },
  check_http: { userInfo: ['-a'] },
  ...Object.fromEntries(['check_mysql', 'check_mysql_query', 'check_pgsql'].map((name) => [name, MONGO])),
};

/** Whatever the program: `--user name:password`. Not `--user 1000:1000`. */
const USER_INFO_FLAG = /^--?(?:[\w.-]{0,64}?(?:basic-?auth|http-?auth|proxy-?user)|auth|user|userpwd)(?:$|=)/i;
const USER_INFO = /^[^\s:/@=]{1,128}:(?!\d+$)./;

/**
 * Passwords in a list of arguments: behind a flag that names one (`--password X`), and behind the flags of one letter of
 * programs that are known for them.
 */
export function secretArguments(
  texts: readonly (string | undefined)[],
  isSecretName: (name: string) => boolean,
): SecretArgument[] {
  const found: SecretArgument[] = [];
  let program: Program | undefined;
  for (const [index, text] of texts.entries()) {
    if (text === undefined) continue;
    program = programAt(texts, index) ?? (/^[|;&]+$/.test(text) ? undefined : program);
    const value = texts[index + 1];
    const glued = gluedPassword(text, program);
    if (glued !== undefined) {
      found.push({ index, part: glued });
      continue;
    }
    if (value === undefined || value === '' || !isFlag(text)) continue;
    const isUserInfo = program?.userInfo?.includes(text) || (USER_INFO_FLAG.test(text) && USER_INFO.test(value));
    const userInfo = isUserInfo ? value.indexOf(':') : -1;
    if (userInfo >= 0) {
      if (userInfo + 1 < value.length)
        found.push({ index: index + 1, part: { start: userInfo + 1, end: value.length } });
    } else if (isPasswordFlag(text, program, isSecretName) && !/^--[a-z][a-z-]*$/i.test(value)) {
      // A password may begin with a dash; a flag with two is one.
      found.push({ index: index + 1, part: 'whole' });
    }
  }
  return found;
}

function isFlag(text: string): boolean {
  return /^--?[A-Za-z][\w.-]{0,63}$/.test(text);
}

function isPasswordFlag(text: string, program: Program | undefined, isSecretName: (name: string) => boolean): boolean {
  if (/^-[A-Za-z]$/.test(text)) return program?.flags?.includes(text[1] ?? '') ?? false;
  return isSecretName(text.replace(/^-+/, ''));
}

function gluedPassword(text: string, program: Program | undefined): TextRange | undefined {
  const [head] = USER_INFO_FLAG.exec(text) ?? [];
  if (head?.endsWith('=') && USER_INFO.test(text.slice(head.length)))
    return { start: text.indexOf(':', head.length) + 1, end: text.length };
  const glue = program?.gluedUserInfo?.includes(text[1] ?? '-') && /^-[A-Za-z][^-\s:]{1,128}:./.test(text);
  if (glue) return { start: text.indexOf(':') + 1, end: text.length };
  const flag = /^-([A-Za-z])./.exec(text)?.[1];
  return flag !== undefined && program?.glued?.includes(flag) ? { start: 2, end: text.length } : undefined;
}

function programAt(texts: readonly (string | undefined)[], index: number): Program | undefined {
  const name = texts[index]?.slice((texts[index]?.lastIndexOf('/') ?? -1) + 1) ?? '';
  return Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : findProgram(`${name} ${texts[index + 1] ?? ''}`);
}

function findProgram(words: string): Program | undefined {
  return Object.hasOwn(PROGRAMS, words) ? PROGRAMS[words] : undefined;
}
