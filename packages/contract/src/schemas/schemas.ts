import { CLUSTER_SCHEMAS } from './cluster-schemas.ts';
import { LOG_SCHEMAS } from './log-schemas.ts';
import { RECORD_SCHEMAS } from './record-schemas.ts';
import {
  bool,
  exactObject,
  integer,
  type JsonSchema,
  listOf,
  nullableText,
  oneOf,
  ref,
  text,
} from './schema-builders.ts';

/** Any JSON a configuration value can be. */
const settingValue: JsonSchema = { description: 'The value as one would write it in the file; a secret is `******`.' };

/** The shapes of all JSON answers, by name. A test holds the real answers against them. */
export const SCHEMAS = {
  Node: exactObject('Description of the node.', {
    hostIp: text('IP address of the node.'),
    hostName: text('Host name of the node.'),
    grpcPort: integer("Port of the node's gRPC server."),
    httpPort: integer("Port of the node's HTTP server."),
    version: text('Version of the node software.'),
    onlineTime: integer('Epoch milliseconds at which the node came online.'),
  }),
  NodeConfig: exactObject('The configuration of the node that answers.', {
    config: text('The configuration as TOML, secrets masked.'),
    node: ref('Node'),
  }),
  ...LOG_SCHEMAS,
  ...RECORD_SCHEMAS,
  ...CLUSTER_SCHEMAS,
  DownloadTicket: exactObject('Stands for the credentials of whoever got it, for one download.', {
    ticket: text('The value of the parameter `ticket`, to be added as the last one.'),
    expiresInMs: integer('Milliseconds for which it can be used.'),
  }),
  NodeDescription: exactObject('Who the node is, beyond the fields of Node.', {
    node: ref('Node'),
    observes: oneOf("Whose state it shows: its own, or a service's beside it.", ['self', 'service']),
    clockMs: integer("The node's clock, epoch milliseconds."),
    timeZone: text('Zone of the log timestamps, by its IANA name.'),
    utcOffsetMinutes: integer('Offset of that zone from UTC now.'),
    uptimeMs: integer('Milliseconds since the node came online.'),
    versions: exactObject('Software versions.', { porthole: text('Porthole.'), node: text('Node.js.') }),
    capabilities: listOf({ type: 'string' }, 'Ids of the operations it answers.'),
    problems: listOf(
      ref('NodeProblem'),
      'Health checks that fail now, as in `/health/ready`; empty while all is well.',
    ),
    role: text('What it does in its cluster, by its setting `cluster.role`.'),
  }),
  NodeProblem: exactObject('A health check that fails.', { check: text('Its name.'), detail: text('What is wrong.') }),
  Setting: exactObject(
    'One configuration key.',
    {
      key: text('Dotted key.'),
      value: settingValue,
      default: { description: 'The default, null where it is not known.' },
      changed: { type: ['boolean', 'null'], description: 'Whether the value differs from the default.' },
      source: oneOf('Where the value comes from.', ['default', 'file', 'env', 'flag', 'option']),
      secret: bool('Whether the value is masked.'),
    },
    { fingerprint: text('Of what is masked: tells members of the same cluster whether theirs is the same.') },
  ),
  NodeSettings: exactObject(
    'Each configuration key with its origin, and the file on disk against what was read at start.',
    {
      observes: oneOf('Whose configuration it is.', ['self', 'service']),
      file: nullableText('The file it comes from.'),
      settings: listOf(ref('Setting')),
      disk: exactObject(
        'The file as it is now.',
        {
          state: oneOf('How it compares with what was read at start.', [
            'none',
            'same',
            'changed',
            'broken',
            'missing',
          ]),
          differs: listOf({ type: 'string' }, 'Keys whose value differs.'),
          detail: nullableText('What is wrong with it.'),
        },
        {
          changes: listOf(
            exactObject('A key whose value differs.', {
              key: text('Dotted key.'),
              atStart: { description: 'Its value at start, null where it was missing. Secrets are masked.' },
              onDisk: { description: 'Its value in the file now, null where it is missing. Secrets are masked.' },
            }),
            'Both values of each key that differs.',
          ),
          textAtStart: text(
            "The service's file as it was read at start, secrets masked; present where its text is another now.",
          ),
        },
      ),
    },
  ),
  Alive: exactObject('The process runs.', { status: { const: 'ok' } }),
  Readiness: exactObject('Whether the node can do its work.', {
    status: oneOf('`degraded`: it answers, but a check below is not ok.', ['ready', 'degraded', 'stopping']),
    checks: listOf(
      exactObject('One thing that was looked at.', {
        name: text('What was looked at.'),
        ok: { type: 'boolean' },
        detail: text('What was found.'),
      }),
    ),
  }),
  Problem: exactObject('An error (RFC 9457).', {
    type: text('Where the code is explained.'),
    title: text('What the code means.'),
    status: integer('The HTTP status.'),
    detail: text('What was wrong this time.'),
    code: text('A code of the closed list.'),
  }),
} as const satisfies Record<string, JsonSchema>;

export type SchemaName = keyof typeof SCHEMAS;
