/** JSON Schema (2020-12) as OpenAPI 3.1 uses it. */
export type JsonSchema = { readonly [key: string]: unknown };

type Properties = { readonly [name: string]: JsonSchema };

/** An object with exactly these fields: our answers leave none out and add none. */
function exact(description: string, properties: Properties): JsonSchema {
  return { type: 'object', description, properties, required: Object.keys(properties), additionalProperties: false };
}

const text = (description: string): JsonSchema => ({ type: 'string', description });
const integer = (description: string): JsonSchema => ({ type: 'integer', description });
const nullableInteger = (description: string): JsonSchema => ({ type: ['integer', 'null'], description });
const oneOf = (description: string, values: readonly string[]): JsonSchema => ({
  type: 'string',
  enum: values,
  description,
});
const listOf = (items: JsonSchema, description?: string): JsonSchema => ({
  type: 'array',
  items,
  ...(description && { description }),
});
const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** Any JSON a configuration value can be. */
const settingValue: JsonSchema = { description: 'The value as one would write it in the file; a secret is `******`.' };

/** The shapes of all JSON answers, by name. A test holds the real answers against them. */
export const SCHEMAS = {
  Node: exact('Description of the node.', {
    hostIp: text('IP address of the node.'),
    hostName: text('Host name of the node.'),
    grpcPort: integer("Port of the node's gRPC server."),
    httpPort: integer("Port of the node's HTTP server."),
    version: text('Version of the node software.'),
    onlineTime: integer('Epoch milliseconds at which the node came online.'),
  }),
  NodeConfig: exact('The configuration of the node that answers.', {
    config: text('The configuration as TOML, secrets masked.'),
    node: ref('Node'),
  }),
  LogEntry: exact('One file of the log directory.', {
    name: text('File name.'),
    size: { type: 'integer', minimum: 0, description: 'Size in bytes.' },
  }),
  LogList: listOf(ref('LogEntry'), 'Every log file, ordered by name.'),
  LogFile: exact('One file of the log directory in detail.', {
    name: text('File name.'),
    size: integer('Size in bytes.'),
    modifiedMs: integer('Epoch milliseconds of the last write.'),
    compressed: { type: 'boolean', description: 'Whether it is a .gz file.' },
    format: oneOf('What the text looks like.', ['contract', 'text', 'binary', 'empty', 'unreadable']),
    firstTimeMs: nullableInteger('Epoch milliseconds of the first timestamp, if one was found.'),
    lastTimeMs: nullableInteger('Epoch milliseconds of the last timestamp, if one was found; never for a .gz file.'),
    problem: { type: ['string', 'null'], description: 'Why the file could not be looked into.' },
  }),
  LogFiles: listOf(ref('LogFile'), 'Every log file, ordered by name.'),
  NodeDescription: exact('Who the node is, beyond the fields of Node.', {
    node: ref('Node'),
    observes: oneOf("Whose state it shows: its own, or a service's beside it.", ['self', 'service']),
    clockMs: integer("The node's clock, epoch milliseconds."),
    timeZone: text('Zone of the log timestamps, by its IANA name.'),
    utcOffsetMinutes: integer('Offset of that zone from UTC now.'),
    uptimeMs: integer('Milliseconds since the node came online.'),
    versions: exact('Software versions.', { porthole: text('Porthole.'), node: text('Node.js.') }),
    capabilities: listOf({ type: 'string' }, 'Ids of the operations it answers.'),
  }),
  Setting: exact('One configuration key.', {
    key: text('Dotted key.'),
    value: settingValue,
    default: { description: 'The default, null where it is not known.' },
    changed: { type: ['boolean', 'null'], description: 'Whether the value differs from the default.' },
    source: oneOf('Where the value comes from.', ['default', 'file', 'env', 'flag', 'option']),
    secret: { type: 'boolean', description: 'Whether the value is masked.' },
  }),
  NodeSettings: exact('Each configuration key with its origin, and the file on disk against what was read at start.', {
    observes: oneOf('Whose configuration it is.', ['self', 'service']),
    file: { type: ['string', 'null'], description: 'The file it comes from.' },
    settings: listOf(ref('Setting')),
    disk: exact('The file as it is now.', {
      state: oneOf('How it compares with what was read at start.', ['none', 'same', 'changed', 'broken', 'missing']),
      differs: listOf({ type: 'string' }, 'Keys whose value differs.'),
      detail: { type: ['string', 'null'], description: 'What is wrong with it.' },
    }),
  }),
  Alive: exact('The process runs.', { status: { const: 'ok' } }),
  Readiness: exact('Whether the node can do its work.', {
    status: oneOf('`degraded`: it answers, but a check below is not ok.', ['ready', 'degraded', 'stopping']),
    checks: listOf(
      exact('One thing that was looked at.', {
        name: text('What was looked at.'),
        ok: { type: 'boolean' },
        detail: text('What was found.'),
      }),
    ),
  }),
  Problem: exact('An error (RFC 9457).', {
    type: text('Where the code is explained.'),
    title: text('What the code means.'),
    status: integer('The HTTP status.'),
    detail: text('What was wrong this time.'),
    code: text('A code of the closed list.'),
  }),
} as const satisfies Record<string, JsonSchema>;

export type SchemaName = keyof typeof SCHEMAS;
