/**
 * TOML texts with their secrets marked: «so», or ‹so› where the mask needs quotes of its own because the secret has
 * none. What is not marked must come back byte for byte.
 */
export const REDACTION_CORPUS: readonly { name: string; marked: string }[] = [
  { name: 'a basic string', marked: 'user = "bob"\npassword = "«hunter2»"\n' },
  { name: 'a literal string', marked: "password = '«hun\\ter2»'\n" },
  { name: 'a multi-line basic string', marked: 'secret = """«\nline one\nline \\"two\\"\n»"""\nnext = 1\n' },
  { name: 'a multi-line literal string', marked: "secret = '''«\nline 'one'\nline two»'''\nnext = 1\n" },
  { name: 'a string with quotes at its end', marked: 'secret = """«say "hi""»"""\n' },
  { name: 'an integer', marked: 'password = ‹123456›\nport = 8080\n' },
  { name: 'other numbers', marked: 'token = ‹0xDEADBEEF›\npin-token = ‹1_000›\nsecret = ‹-3.5e7›\npass = ‹nan›\n' },
  { name: 'dates and times', marked: 'password = ‹1979-05-27›\nsecret = ‹1979-05-27 07:32:00Z›\npass = ‹07:32:00›\n' },
  { name: 'booleans, which reveal nothing', marked: 'token = true\npassword = false\n' },
  { name: 'empty values', marked: 'password = ""\ntoken = \'\'\nsecret = """"""\ntokens = []\ncredentials = {}\n' },
  { name: 'an array', marked: 'tokens = ["«first-token»", \'«second-token»\', "", ‹42›, true]\n' },
  {
    name: 'an array over several lines with comments',
    marked: 'tokens = [\n  "«first-token»", # the first\n  # "«second-token»"\n  "«second-token»",\n]\n',
  },
  { name: 'nested arrays', marked: 'passwords = [["«alpha-1»", ["«beta-22»"]], []]\n' },
  { name: 'an inline table', marked: 'db = { user = "bob", password = "«hunter2»", port = 5432 }\n' },
  { name: 'nested inline tables', marked: 'a = { b = [{ c = { "api.key" = \'«k-1234»\' } }, { d = 1 }] }\n' },
  {
    name: 'an inline table over several lines',
    marked: 'db = {\n  password = "«hunter2»", # «hunter2»\n  port = 1,\n}\n',
  },
  { name: 'a secret key with an inline table', marked: 'credentials = { user = "«bobby-t»", key = "«abc»" }\n' },
  { name: 'nested tables', marked: '[a.b]\nx = 1\n[a.b.c]\npwd = "«hunter2»"\ny = "z"\n' },
  { name: 'arrays of tables', marked: '[[users]]\nname = "a"\npass = "«p1»"\n[[users]]\nname = "b"\npass = "«p2»"\n' },
  { name: 'dotted keys', marked: 'db.main.password = "«hunter2»"\ndb.main.host = "h"\napi.key = "«abcdef»"\n' },
  { name: 'quoted keys', marked: '"pass word" = "«x1»"\n\'client secret\' = "«x2»"\n"db"."user.password" = "«x3»"\n' },
  { name: 'escaped keys', marked: '"pass\\u0077ord" = "«hunter2»"\n' },
  {
    name: 'a table of secrets',
    marked: '[secrets]\nmysql = "«m-pass»"\nsmtp.host = "«mail»"\nlevel = ‹7›\nlive = true\n',
  },
  { name: 'tables below a table of secrets', marked: '[credentials.db]\nname = "«main-db»"\n[other]\nname = "keep"\n' },
  {
    name: 'arrays of tables of secrets',
    marked: '[[auth.tokens]]\nid = "«ci»"\nvalue = "«abc»"\n[auth]\nmode = "x"\n',
  },
  { name: 'a table about one secret', marked: '[token]\nvalue = "«abc»"\nttl = "1h"\nfile = "/run/token"\n' },
  {
    name: 'the key of a cipher table',
    marked: '[encryption]\nmethod = "aes"\nkey = "«0123abcd»"\n[row]\nkey = "id"\n',
  },
  {
    name: 'what only sounds like a secret',
    marked:
      'password-file = "/run/pw"\ntoken-ttl = "1h"\nmax-tokens = 5\npassthrough = "on"\ncompass = "n"\npublic-key = "p"\n',
  },
  { name: 'URLs', marked: 'a = "postgres://bob:«hunter2»@db:5432/app?sslmode=off"\nb = "redis://:«pw»@h:6379/0"\n' },
  { name: 'several URLs in one string', marked: 'a = "http://u:«pw1»@h1:1,http://u:«pw2»@h2:2, http://h3:3/x@y"\n' },
  { name: 'passwords that break their URL', marked: 'a = "amqp://u:«p@ss/w#r:d»@h/v"\nb = "amqp://u:«p%40ss»@h/v"\n' },
  { name: 'tokens as user names', marked: 'a = "https://«ghp_abcdef»@git.example/x"\nb = "ssh://git@git.example/x"\n' },
  { name: 'query parameters', marked: 'a = "http://h/p?db=x&password=«hunter2»&token=«t-1»#top"\n' },
  { name: 'a libpq connection string', marked: 'a = "host=x user=bob password=«hunter2» dbname=secret-data"\n' },
  { name: 'a libpq connection string with quotes', marked: `a = "host=x password='«hun ter»' port=1"\n` },
  { name: 'an ADO connection string', marked: 'a = "Server=h;User Id=bob;Pwd=«p w,d»;Encrypt=true"\n' },
  { name: 'a storage account', marked: 'a = "AccountName=n;AccountKey=«ab+/cd==»;EndpointSuffix=core"\n' },
  { name: 'a Go MySQL DSN', marked: 'a = "bob:«hunter2»@tcp(db:3306)/app?parseTime=true"\nb = "bob@tcp(db)/x"\n' },
  { name: 'JDBC', marked: 'a = "jdbc:sqlserver://h:1433;user=bob;password=«hunter2»;x=y"\nb = "jdbc:h2://h/x"\n' },
  {
    name: 'headers',
    marked: 'a = "Authorization: Bearer «xyz»"\nb = "Basic «dXNlcjpwYXNz»"\nc = ["X-Api-Key: «k1»"]\n',
  },
  { name: 'command lines', marked: 'a = "run --user bob --password «hunter2» --quiet"\nb = "run --token=«t0»"\n' },
  { name: 'JSON in a string', marked: 'a = \'{"user": "bob", "password": "«hunter2»", "n": 1}\'\n' },
  {
    name: 'a private key in a string',
    marked: 'tls = """\n-----BEGIN RSA PRIVATE KEY-----«\nMIIEab\nMIIEcd\n»-----END RSA PRIVATE KEY-----\n"""\n',
  },
  {
    name: 'a certificate, which is public',
    marked: 'c = "-----BEGIN CERTIFICATE-----\\nMIIE\\n-----END CERTIFICATE-----"\n',
  },
  { name: 'escapes around a masked part', marked: 'a = "\\u00e9\\t\\"postgres://u:«p\\u00e9w»@h\\" \\U0001F600 x"\n' },
  { name: 'a line that goes on', marked: 'a = """\\\n   postgres://u:«pw»@h \\\n   \\t tail"""\n' },
  { name: 'a default that repeats the value', marked: '## Default: "«pw»"\npassword = "«pw»"\n' },
  { name: 'a default without quotes', marked: '## Default: «pw»\npassword = "«pw»"\n## Default: 5\nport = 5\n' },
  {
    name: 'a default that differs',
    marked: '## Default: "«other»"\npassword = "«pw»"\n## Default: "other2"\nx = "y"\n',
  },
  { name: 'a comment beside', marked: 'password = "«pw»" # was pwd, now «pw»\n' },
  { name: 'a short value in other words', marked: '# a cat and the ad, see "«a»"\nx = "a"\npassword = "«a»"\n' },
  {
    name: 'an ordinary word as password',
    marked: '# The password is checked by password rules.\npassword = "«password»"\nmode = "password"\n',
  },
  { name: 'a copy in a far comment', marked: '# we use «Tr0ub4dor»!\n\n[a]\nx = 1\n[b]\npassword = "«Tr0ub4dor»"\n' },
  { name: 'an escaped copy', marked: '# once «a\\"b\\"cd»\npassword = "«a\\"b\\"cd»"\n# or «a"b"cd»\n' },
  {
    name: 'copies in other values',
    marked: 'cmd = "login bob «Tr0ub4dor» now"\npassword = "«Tr0ub4dor»"\nn = "Tr0ub"\n',
  },
  { name: 'a copy of a URL password', marked: 'url = "pg://u:«p%40ssw0rd»@h"\nnote = "use «p@ssw0rd»"\n' },
  { name: 'a copied number', marked: 'password = ‹12345678›\nother = ‹12345678›\nthird = 123456789\n' },
  { name: 'overlapping secrets', marked: '# «abcdefghij»\npassword = "«abcdefg»"\ntoken = "«defghij»"\n' },
  {
    name: 'commented-out assignments',
    marked: '# password = "«old one»"\n#token = \'«x»\'\n## api_key = «bare word»\n# port = 1\n',
  },
  {
    name: 'commented-out dotted and quoted keys',
    marked: '# db.password = "«x»"\n# "client secret" = "«y»"\n# a.b = "z"\n',
  },
  { name: 'a commented-out table of secrets', marked: '# [secrets]\n# mysql = "«x»"\n# [other]\n# mysql = "y"\n' },
  {
    name: 'a comment in a table of secrets',
    marked: '[secrets]\n# mysql = "«x»"\n# the first one\na = "«yy»"\n[b]\n# mysql = "z"\n',
  },
  {
    name: 'a commented-out array',
    marked: '# tokens = [\n#   «"a"»,\n#   «"b"»,\n# ]\n# port = 1\n# tokens = [«"a", "b"»]\n',
  },
  { name: 'a commented-out string of lines', marked: '# secret = """«one»\n# «two»"""\n# three\n' },
  {
    name: 'a commented-out private key',
    marked: '# -----BEGIN PRIVATE KEY-----\n# «MIIEab»\n# -----END PRIVATE KEY-----\n# MIIEcd\n',
  },
  { name: 'a commented-out inline table', marked: '# db = { user = "bob", password = "«x»" }\n' },
  {
    name: 'commented-out empty and boolean values',
    marked: '# password = ""\n# token = false\n# secret =\n# tokens = []\n',
  },
  { name: 'a URL in a comment', marked: '# see "postgres://u:«pw»@h/x" or https://docs.example/a@b\nx = 1\n' },
  { name: 'Windows line ends', marked: '# x\r\npassword = "«hunter2»"\r\n# «hunter2»\r\na = """\r\nx\r\n"""\r\n' },
  { name: 'characters beyond the basic plane', marked: 'x = "😀" # 😀 «hunter2»\npassword = "«hunter2»" # 😀\n' },
  { name: 'no newline at the end', marked: 'password = "«hunter2»"' },
  { name: 'an empty text', marked: '' },
  {
    name: 'names of object internals',
    marked: '__proto__ = "x"\nconstructor.password = "«hunter2»"\n[a.__proto__]\nb = 1\n',
  },
];

/** The text before and after, and the secrets in it. */
export function unmark(marked: string): { toml: string; redacted: string; secrets: string[] } {
  return {
    toml: marked.replace(/[«»‹›]/g, ''),
    redacted: marked.replace(/«[^»]*»/g, '******').replace(/‹[^›]*›/g, '"******"'),
    secrets: [...marked.matchAll(/[«‹]([^»›]*)[»›]/g)].map((match) => match[1] ?? ''),
  };
}
