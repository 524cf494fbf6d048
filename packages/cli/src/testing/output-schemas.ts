import { EVENT_KINDS, type JsonSchema, SCHEMAS } from '@porthole/contract';

/* What commands print with -o json; docs/cli-output.schema.json is made from it, and tests hold real output against it. */

/** A schema of the contract, with more fields that may be present. */
function extended(name: keyof typeof SCHEMAS, optional: Record<string, JsonSchema>): JsonSchema {
  const { properties, ...rest } = SCHEMAS[name] as JsonSchema & { properties: object };
  return { ...rest, properties: { ...properties, ...optional } };
}

const text = (description: string): JsonSchema => ({ type: 'string', description });

const TARGET = { target: text('The argument it belongs to, where several are given.') };

const RECORDS: JsonSchema = {
  description: 'A record; with --follow also what happens to the logs and nodes, by its type.',
  anyOf: [
    extended('FoundRecord', { target: text('The file with its directory or node, where several have the same name.') }),
    { $ref: '#/components/schemas/ClusterRecord' },
    { $ref: '#/components/schemas/FollowItem' },
    { $ref: '#/components/schemas/ClusterFollowItem' },
  ],
};

const EVENT: JsonSchema = {
  type: 'object',
  description: 'What happened to a node.',
  properties: {
    kind: { enum: EVENT_KINDS, description: 'What happened.' },
    timeMs: { type: 'number', description: 'When, in epoch milliseconds by the clock of the queried node.' },
    level: text('How severe it is.'),
    message: text('A sentence.'),
    cursor: text('Identifies it on its node.'),
    fields: { type: 'object', description: 'What else is known of it.' },
    node: text('Id of the node.'),
  },
  required: ['kind', 'timeMs', 'level', 'message', 'cursor', 'fields'],
  additionalProperties: false,
};

const CONTEXT: JsonSchema = {
  type: 'object',
  description: 'A context; its files are named, not shown.',
  properties: {
    name: text('For -c.'),
    isCurrent: { type: 'boolean', description: 'Whether it is in use.' },
    url: text('Address of the node.'),
    tokenFile: text('Path.'),
    caFile: text('Path.'),
    certFile: text('Path.'),
    keyFile: text('Path.'),
  },
  required: ['name', 'isCurrent', 'url'],
  additionalProperties: false,
};

/** With its node only where nodes were asked for. */
const LOG_FILE: JsonSchema = extended('LogFileDetails', {
  ...TARGET,
  node: text('Id of the node.'),
  modifiedMs: { type: ['number', 'null'], description: 'Epoch milliseconds of the last write; null: not known.' },
});

const EQUAL: JsonSchema = {
  type: 'boolean',
  description:
    'Whether everything was compared and nothing differs. False without a difference: something could not be compared.',
};

const CONFIG_VALUE: JsonSchema = { description: 'The value; absent where the configuration does not have the key.' };

const CONFIG_DIFF: JsonSchema = {
  type: 'object',
  description: 'Of two configurations their differences, of a cluster those of each role.',
  required: ['equal'],
  oneOf: [
    {
      properties: {
        equal: EQUAL,
        a: text('The first configuration, as given.'),
        b: text('The second one.'),
        differences: {
          type: 'array',
          items: {
            type: 'object',
            properties: { key: text('Dotted key.'), a: CONFIG_VALUE, b: CONFIG_VALUE },
            required: ['key'],
            additionalProperties: false,
          },
        },
        uncomparable: { type: 'array', items: { type: 'string' }, description: 'Keys masked on both sides.' },
      },
      required: ['a', 'b', 'differences', 'uncomparable'],
      additionalProperties: false,
    },
    extended('ClusterConfigDiff', { equal: EQUAL }),
  ],
};

const number = (description: string): JsonSchema => ({ type: 'integer', description });
const nullableText = (description: string): JsonSchema => ({ type: ['string', 'null'], description });
const time = (description: string): JsonSchema => ({ type: ['integer', 'null'], description });

const ARCHIVE_STATUS: JsonSchema = {
  type: 'object',
  description: 'What a node has shipped to the archive.',
  properties: {
    node: text('Id of the node.'),
    shippedFromMs: time(
      'Start of the time range of which all its records are in the archive; null: nothing was shipped.',
    ),
    shippedToMs: time('End of that range.'),
    behindMs: time('How long ago that was; null for a node that no longer exists.'),
    lostBytes: number('Bytes of logs that were deleted before they were shipped.'),
    problem: nullableText(
      'Why it does not ship, or cannot read the archive, and since when; null: no such problem is known.',
    ),
    state: text('ok, stuck, behind, nothing shipped, past (no longer a member), or why the node did not respond.'),
  },
  required: ['node', 'shippedFromMs', 'shippedToMs', 'behindMs', 'lostBytes', 'problem', 'state'],
  additionalProperties: false,
};

const ARCHIVE_DAY: JsonSchema = {
  type: 'object',
  description: 'The records of a node and day.',
  properties: {
    node: text('Id of the node.'),
    day: text('The day, UTC.'),
    onDisk: number('Records on the disk of the node.'),
    inArchive: number('Records in the archive.'),
    missing: number('By how many the archive has less.'),
  },
  required: ['node', 'day', 'onDisk', 'inArchive', 'missing'],
  additionalProperties: false,
};

const DOCTOR: JsonSchema = {
  type: 'object',
  properties: {
    healthy: { type: 'boolean', description: 'Whether there is no problem; then the exit code is 0.' },
    findings: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: text('Name of the check.'),
          state: { enum: ['ok', 'warning', 'problem'] },
          detail: text('What was found.'),
          remedy: text('What to do about it.'),
        },
        required: ['name', 'state', 'detail'],
        additionalProperties: false,
      },
    },
    skipped: { type: 'array', items: { type: 'string' }, description: 'Checks that need valid settings.' },
  },
  required: ['healthy', 'findings', 'skipped'],
  additionalProperties: false,
};

const CONFORM: JsonSchema = {
  type: 'object',
  description: 'How a node does in the cases of docs/conformance.md.',
  properties: {
    url: text('Address of the node.'),
    ok: { type: 'boolean', description: 'No case failed.' },
    profile: nullableText('The profile that open points were compared with.'),
    cases: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          group: { enum: ['core', 'robust', 'open'], description: 'Open points are measured.' },
          id: text('Name of the case.'),
          title: text('What it is about.'),
          state: { enum: ['ok', 'failed', 'skipped'], description: 'The result.' },
          detail: text('Why it failed or was skipped.'),
          measured: text('How the node handles an open point.'),
          expected: text('How the profile has it.'),
        },
        required: ['group', 'id', 'title', 'state'],
        additionalProperties: false,
      },
    },
    profiles: {
      type: 'array',
      description: 'How much the node is like each profile.',
      items: {
        type: 'object',
        properties: {
          profile: text('Its name.'),
          compared: number('Measured points that are part of the profile.'),
          equal: number('How many of them are the same.'),
        },
        required: ['profile', 'compared', 'equal'],
        additionalProperties: false,
      },
    },
  },
  required: ['url', 'ok', 'profile', 'cases', 'profiles'],
  additionalProperties: false,
};

export interface OutputSchema {
  /** One JSON text per line, each of this schema; otherwise one for all. */
  isLines: boolean;
  schema: JsonSchema;
}

const lines = (schema: JsonSchema): OutputSchema => ({ isLines: true, schema });
const whole = (schema: JsonSchema): OutputSchema => ({ isLines: false, schema });

/** By command. */
export const OUTPUT_SCHEMAS: Readonly<Record<string, OutputSchema>> = {
  nodes: lines({ $ref: '#/components/schemas/ClusterNode' }),
  'config get': whole({ type: 'object', description: 'The configuration, or the selected keys and tables of it.' }),
  'config diff': whole(CONFIG_DIFF),
  'config history': lines(extended('ConfigPeriod', { node: text('Id of the node.') })),
  logs: lines(RECORDS),
  'logs ls': lines(LOG_FILE),
  'logs formats': lines(LOG_FILE),
  'logs search': lines(RECORDS),
  'logs digest': lines(extended('ClusterDigest', TARGET)),
  'logs histogram': lines(extended('ClusterHistogram', TARGET)),
  'logs top': lines(extended('ClusterTop', TARGET)),
  'logs fields': lines(extended('ClusterFields', TARGET)),
  'logs around': lines(RECORDS),
  events: lines(EVENT),
  incident: whole({ $ref: '#/components/schemas/Incident' }),
  'archive status': lines(ARCHIVE_STATUS),
  'archive verify': lines(ARCHIVE_DAY),
  doctor: whole(DOCTOR),
  conform: whole(CONFORM),
  'context list': lines(CONTEXT),
  'context show': whole(CONTEXT),
};

/** One document with the schema of each command in `$defs`, and of the contract what these refer to. */
export function outputSchemaDocument(): JsonSchema {
  const $defs = Object.fromEntries(
    Object.entries(OUTPUT_SCHEMAS).map(([command, { isLines, schema }]) => [
      command,
      { title: `porthole ${command} -o json${isLines ? ', each line' : ''}`, ...schema },
    ]),
  );
  const schemas: Record<string, JsonSchema> = {};
  const collect = (value: unknown) => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const schema = (SCHEMAS as Readonly<Record<string, JsonSchema>>)[name];
      if (schema === undefined || schemas[name]) continue;
      schemas[name] = schema;
      collect(schema);
    }
  };
  collect($defs);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://porthole.example/cli-output.schema.json',
    title: 'Output of porthole with -o json',
    $defs,
    components: { schemas },
  };
}
