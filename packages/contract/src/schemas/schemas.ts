import type {
  NodeConfig,
  NodeObject,
  NodeProblem,
  NodeSettings,
  RunningDifference,
  RunningSettings,
  SettingChange,
  SettingEntry,
  ShippingState,
} from '../node-state.ts';
import type { ClientSession, SavedView, SavedViews } from '../saved-views.ts';
import { CLUSTER_COUNT_SCHEMAS, CLUSTER_SCHEMAS } from './cluster-schemas.ts';
import { EVENT_SCHEMAS } from './event-schemas.ts';
import { ARCHIVE_SCHEMAS, COVERAGE_SCHEMAS } from './member-schemas.ts';
import { FIELD_SCHEMAS, LOG_SCHEMAS, RECORD_SCHEMAS } from './record-schemas.ts';
import type { DownloadTicket, Readiness, ResponseTypes, SentTypes } from './response-types.ts';
import {
  anyValue,
  bool,
  constant,
  exactObject,
  integer,
  type JsonSchema,
  listOf,
  mapOf,
  nullableText,
  oneOf,
  ref,
  type Schema,
  text,
} from './schema-builders.ts';

/**
 * The JSON responses by name. The compiler checks each against its type in `response-types.ts`, and tests
 * check real responses against them.
 */
export const SCHEMAS: Readonly<Record<SchemaName, JsonSchema>> = {
  Node: exactObject<NodeObject>('Description of the node.', {
    hostIp: text('IP address of the node.'),
    hostName: text('Host name of the node.'),
    grpcPort: integer("Port of the node's gRPC server."),
    httpPort: integer("Port of the node's HTTP server."),
    version: text('Version of the node software.'),
    onlineTime: integer('Epoch milliseconds at which the node came online.'),
  }),
  NodeConfig: exactObject<NodeConfig>('The configuration of the responding node.', {
    config: text('The configuration as TOML, secrets masked.'),
    node: ref('Node'),
  }),
  ...LOG_SCHEMAS,
  ...EVENT_SCHEMAS,
  ...RECORD_SCHEMAS,
  ...FIELD_SCHEMAS,
  ...CLUSTER_SCHEMAS,
  ...CLUSTER_COUNT_SCHEMAS,
  ...ARCHIVE_SCHEMAS,
  ...COVERAGE_SCHEMAS,
  DownloadTicket: exactObject<DownloadTicket>(
    'Stands for the credentials of the client that requested it, for one download.',
    {
      ticket: text('Value of the parameter `ticket`, which must be the last one.'),
      expiresInMs: integer('Milliseconds for which it is valid.'),
    },
  ),
  ClientSession: exactObject<ClientSession>('Who sent the request.', {
    name: text('Their name, as this node knows them.'),
    kind: oneOf('How they were authenticated. `anonymous`: the node requires no credentials.', [
      'token',
      'jwt',
      'certificate',
      'program',
      'anonymous',
    ]),
    roles: listOf({ type: 'string' }, 'What they may do.'),
  }),
  SavedView: exactObject<SavedView>('A log view under a name.', {
    name: text('Its name.'),
    query: text('The query of its address at `/logs`, without the question mark.'),
    changedMs: integer('When it was saved, epoch milliseconds.'),
    changedBy: text('Who saved it.'),
  }),
  SavedViews: exactObject<SavedViews>('The views that a node keeps.', {
    views: listOf(ref('SavedView'), 'By name.'),
    sharing: oneOf(
      'Who else has them. `node`: nobody. `cluster`: every member. `behind`: the registry does not respond; changes are shared when it does.',
      ['node', 'cluster', 'behind'],
    ),
    problem: nullableText('What was lost, or cannot be stored.'),
  }),
  NodeDescription: exactObject<SentTypes['NodeDescription']>(
    'What the node is, beyond the fields of Node.',
    {
      node: ref('Node'),
      observes: oneOf('Whose state it shows: its own, or that of a service beside it.', ['self', 'service']),
      clockMs: integer("The node's clock, epoch milliseconds."),
      timeZone: text('Zone of the log timestamps, by its IANA name.'),
      utcOffsetMinutes: integer('Offset of that zone from UTC now.'),
      uptimeMs: integer('Milliseconds since the node came online.'),
      versions: exactObject<SentTypes['NodeDescription']['versions']>('Software versions.', {
        porthole: text('Porthole.'),
        node: text('Node.js.'),
      }),
      capabilities: listOf({ type: 'string' }, 'Ids of the operations it supports.'),
      problems: listOf(ref('NodeProblem'), 'Health checks that fail now, as in `/health/ready`; empty if none does.'),
      role: text('What it does in its cluster, by its setting `cluster.role`.'),
      labels: mapOf({ type: 'string' }, 'Its labels, by its setting `node.labels`.'),
    },
    { archive: ref('ShippingState') },
  ),
  ShippingState: exactObject<ShippingState>(
    'What the node has shipped to the archive since it started, and what waits.',
    {
      lagMs: integer('Milliseconds that the oldest record waits to be shipped.'),
      lagBytes: integer('Bytes of logs that wait to be shipped.'),
      shippedRecords: integer('Records the archive has stored.'),
      lostBytes: integer('Bytes of logs that were deleted before they were shipped.'),
      problem: { type: ['string', 'null'], description: 'Why nothing is shipped now; null if there is no problem.' },
    },
  ),
  NodeProblem: exactObject<NodeProblem>('A health check that fails.', {
    check: text('Its name.'),
    detail: text('What is wrong.'),
  }),
  Setting: exactObject<SettingEntry>(
    'One configuration key.',
    {
      key: text('Dotted key.'),
      value: anyValue('The value as it would be written in the file; a secret is `******`.'),
      default: anyValue('The default; null if it is not known.'),
      changed: { type: ['boolean', 'null'], description: 'Whether the value differs from the default.' },
      source: oneOf('Where the value comes from.', ['default', 'file', 'env', 'flag', 'option']),
      secret: bool('Whether the value is masked.'),
    },
    {
      fingerprint: text('Fingerprint of what is masked: shows members of the same cluster whether theirs is the same.'),
      file: text('The file that has it, if the configuration of the service is not a single TOML file.'),
      line: integer('Its line in that file.'),
    },
  ),
  NodeSettings: exactObject<NodeSettings>(
    'Each configuration key with its source, and the file on disk compared with what was read at start.',
    {
      observes: oneOf('Whose configuration it is.', ['self', 'service']),
      file: nullableText('The file it comes from.'),
      settings: listOf(ref('Setting')),
      disk: exactObject<NodeSettings['disk']>(
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
            exactObject<SettingChange>('A key whose value differs.', {
              key: text('Dotted key.'),
              atStart: anyValue('Its value at start; null if it was missing. Secrets are masked.'),
              onDisk: anyValue('Its value in the file now; null if it is missing. Secrets are masked.'),
            }),
            'Both values of each key that differs.',
          ),
          textAtStart: text(
            "The service's file as it was read at start, secrets masked; present if its text has changed.",
          ),
        },
      ),
    },
    {
      format: text("The format of the service's files: `yaml`, `postgresql`, `text` and so on; absent for TOML."),
      problems: listOf({ type: 'string' }, 'Parts that could not be read, or are shown only as text.'),
      running: exactObject<RunningSettings>(
        'What the service says it runs with, compared with its files; present if `service.config-command` is set.',
        {
          state: oneOf('How it compares with the files.', ['same', 'differs', 'failed']),
          detail: nullableText('Why it could not be read.'),
          comparedKeys: integer('Keys that both have.'),
          differences: listOf(
            exactObject<RunningDifference>('A key with another meaning.', {
              key: text('Dotted key.'),
              onDisk: anyValue('Its value in the file; null if it is in no file that is read. Secrets are masked.'),
              running: anyValue('The value the service runs with. Secrets are masked.'),
            }),
          ),
        },
      ),
    },
  ),
  Alive: exactObject<ResponseTypes['Alive']>('The process runs.', { status: constant('ok') }),
  Readiness: exactObject<Readiness>('Whether the node can do its work.', {
    status: oneOf('`degraded`: it responds, but a check fails.', ['ready', 'degraded', 'stopping']),
    checks: listOf(
      exactObject<Readiness['checks'][number]>('One check.', {
        name: text('What is checked.'),
        ok: bool('Whether it passes.'),
        detail: text('What was found.'),
      }),
    ),
  }),
  Problem: exactObject<ResponseTypes['Problem']>(
    'An error (RFC 9457).',
    {
      type: text('Link to the documentation of the code.'),
      title: text('What the code means.'),
      status: integer('The HTTP status.'),
      detail: text('What went wrong this time.'),
      code: text('Error code, from a closed list.'),
    },
    { position: integer('With `QUERY_INVALID`: index of the mistake in the text of the query, in UTF-16 units.') },
  ),
} satisfies { [Name in keyof SentTypes]: Schema<SentTypes[Name]> };

export type SchemaName = keyof ResponseTypes;
