import fc from 'fast-check';

/** A piece of a TOML text. A plain one holds no secret and must come back as it is. */
export interface TomlPiece {
  text: string;
  plain: boolean;
}

/** In every secret and nowhere else, so that a part of a secret that survives is seen as well. */
export const TRACES = /Zqx|Xjx/;

const NOISE = fc.string({
  unit: fc.constantFrom(...'abcdeh0123456789 -_.+!#=@/:;,[]{}()%&?$\\"\'`~^|<>é😀'),
  maxLength: 6,
});

const secretValue = fc.tuple(NOISE, NOISE, NOISE).map(([a, b, c]) => `${a}Zqx${b}Xjx${c}`);

const secretKey = fc.constantFrom(
  ...[
    'password',
    'PASSWORD',
    'db_password',
    'dbPassword',
    '"pass word"',
    "'user.pwd'",
    'auth.token',
    'apiKey',
    'API_KEY',
  ],
  ...['client-secret', 'aws.secretAccessKey', 'privateKey', '"signing key"', 'token2', 'credentials', 'bearer', 'DSN'],
  ...['connection-string', 'jwt', 'passphrase', 'encryption.key', 'requirepass', 'mysqlpassword', 'salt'],
);

const secretTable = fc.constantFrom('secrets', 'a.credentials', '"api keys"', 'auth.tokens', 'x.passwords.y');

const plainKey = fc.constantFrom(
  ...['host', 'port', 'token-ttl', 'password-file', 'max-tokens', 'public-key', 'passthrough', 'key', '"a.b"', 'path'],
);

const plainValue = fc.constantFrom(
  ...['1', '-2.5', 'true', '1979-05-27T07:32:00Z', '"/var/lib"', "'lit\\x'", '"é\\u00e9\\t"', '[1, [2, "three"], []]'],
  ...['{ a = 1, b = "two" }', '"http://host:80/a?b=c"', '"""\nlines\r\n  of text"""', "'''\nmore'''", '""', '0xff'],
);

const plainComment = fc.constantFrom('', ' # a note', ' # 10s', ' ## Default: 5', ' # see "docs"');

/** The secret as TOML, in any of the ways to write a string. */
const written = secretValue.chain((value) =>
  fc.constantFrom(
    JSON.stringify(value),
    unicodeEscaped(value),
    `"""\n${JSON.stringify(value).slice(1, -1)}"""`,
    `"""${JSON.stringify(value).slice(1, -1)}\\\n   \n tail"""`,
    ...(value.includes("'") ? [] : [`'${value}'`, `'''${value}\nmore'''`]),
  ),
);

const nestedSecret = fc
  .tuple(secretKey, written, written)
  .chain(([key, one, two]) =>
    fc.constantFrom(
      `${key} = ${one}`,
      `${key} = [${one}, ${two}, ""]`,
      `${key} = [\n  ${one}, # a note\n\n  [${two}],\n]`,
      `${key} = { a = ${one}, b = [${two}] }`,
      `inline = { port = 1, ${key} = ${one} }`,
      `list = [{ x = { ${key} = ${one} } }, { y = 2 }]`,
    ),
  );

const embeddedSecret = secretValue.chain((value) =>
  fc.constantFrom(
    `url = "postgres://bob:${encodeURIComponent(value)}@host:5432/db?x=y"`,
    `urls = ["http://:${encodeURIComponent(value)}@h1,http://u:${encodeURIComponent(value)}@h2"]`,
    `url = 'http://host/p?a=b&access_token=${encodeURIComponent(value)}&c=d'`.replaceAll(/'(?!http|$)/g, '%27'),
    `dsn-like = ${JSON.stringify(`host=h password=${JSON.stringify(value)} port=1`)}`,
    `mysql = ${JSON.stringify(`bob:${value}@tcp(h:3306)/db`)}`,
    `header = ${JSON.stringify(`Authorization: Basic ${encodeURIComponent(value)}`)}`,
  ),
);

const commentedSecret = fc
  .tuple(secretKey, secretValue)
  .chain(([key, value]) =>
    fc.constantFrom(
      `# ${key} = ${JSON.stringify(value)}`,
      `#${key}=${JSON.stringify(value)} # old`,
      `## ${key} = [\n##   ${JSON.stringify(value)},\n## ]`,
      `# [secrets]\n# db = ${JSON.stringify(value)}`,
      `# "http://u:${encodeURIComponent(value)}@h"`,
      `# -----BEGIN EC PRIVATE KEY-----\n# ${encodeURIComponent(value)}\n# -----END EC PRIVATE KEY-----`,
    ),
  );

const copiedSecret = fc
  .tuple(secretKey, secretValue)
  .chain(([key, value]) =>
    fc.constantFrom(
      `## Default: ${JSON.stringify(value)}\n${key} = ${JSON.stringify(value)}`,
      `# once (${value}) was set\n\nother = 1\n${key} = ${JSON.stringify(value)} # not ${value}!`,
      `other = ${JSON.stringify(`run ${value} now`)}\n${key} = ${JSON.stringify(value)}`,
      `other = ${unicodeEscaped(`run ${value}`)}\n${key} = ${unicodeEscaped(value)}`,
    ),
  );

const secretPiece = fc
  .oneof(nestedSecret, nestedSecret, embeddedSecret, commentedSecret, copiedSecret)
  .map((text) => ({ text, plain: false }));

const plainPiece = fc
  .tuple(plainKey, plainValue, plainComment)
  .map(([key, value, comment]) => ({ text: `${key} = ${value}${comment}`, plain: true }));

const secretTablePiece = fc
  .tuple(secretTable, fc.constantFrom('name', 'a.b', '"x y"'), written)
  .map(([table, key, value]) => ({ header: table, pieces: [{ text: `${key} = ${value}`, plain: false }] }));

const mixedTablePiece = fc
  .array(fc.oneof(plainPiece, secretPiece), { minLength: 1, maxLength: 4 })
  .map((pieces) => ({ header: 'part', pieces }));

/** Documents with secrets in random places. Each piece has a table of its own, so that no two keys meet. */
export const tomlWithSecrets: fc.Arbitrary<TomlPiece[]> = fc
  .array(fc.oneof(mixedTablePiece, secretTablePiece), { minLength: 1, maxLength: 6 })
  .map((tables) =>
    tables.flatMap(({ header, pieces }, table) =>
      pieces.flatMap((piece, index) => [
        {
          text: table % 2 === 0 ? `[t${table}.p${index}.${header}]` : `[[t${table}.p${index}.${header}]]`,
          plain: true,
        },
        piece,
      ]),
    ),
  );

function unicodeEscaped(value: string): string {
  const units = [...value].map((sign) => `\\U${(sign.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`);
  return `"${units.join('')}"`;
}
