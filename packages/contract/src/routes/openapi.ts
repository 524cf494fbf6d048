import { ERROR_KINDS, type ErrorCode, PortholeError, toProblem } from '../errors/errors.ts';
import { describeParameter, type Parameter } from '../params/parameter.ts';
import type { SentTypes } from '../schemas/response-types.ts';
import type { JsonSchema } from '../schemas/schema-builders.ts';
import { SCHEMAS, type SchemaName } from '../schemas/schemas.ts';
import { getMemberOperation, getMemberRoute, MEMBER_ROUTE_IDS } from './member-routes.ts';
import { JSON_TYPE, type Route } from './route.ts';
import { COMMON_ERRORS, getRoute, ROUTE_IDS } from './routes.ts';

/** The interface as an OpenAPI 3.1 document, generated from the route table, the schemas and the error table. */
export function buildOpenApi({ version, basePath = '' }: { version: string; basePath?: string }): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  for (const id of ROUTE_IDS) {
    const route = getRoute(id);
    if (!route.page) paths[route.path] = { ...(paths[route.path] ?? {}), ...toOperations(id, route) };
  }
  for (const id of MEMBER_ROUTE_IDS) {
    const route = getMemberRoute(id);
    paths[route.path] = toOperations(getMemberOperation(id), route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Porthole node state interface',
      version,
      description: 'Configuration and logs of a node and its cluster. Every GET also supports HEAD.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: basePath || '/', description: 'The node that serves this document.' }],
    security: [{ bearer: [] }, { certificate: [] }, {}],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: SCHEMAS,
      examples: Object.fromEntries(Object.entries(EXAMPLES).map(([name, value]) => [name, { value }])),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of the token file, or a JWT, if authentication is enabled.',
        },
        certificate: {
          type: 'mutualTLS',
          description: 'A certificate of the authority that the node trusts for its clients.',
        },
      },
    },
  };
}

/** A route that takes its parameters in a body has them once more, as a schema. */
function toOperations(id: string, route: Route): JsonSchema {
  const get = toOperation(id, route);
  if (route.post !== 'json') return { [route.method?.toLowerCase() ?? 'get']: get };
  const { parameters: _parameters, ...others } = get;
  const path = route.parameters.filter((each) => each.in === 'path').map(toParameter);
  const body = route.parameters.filter((each) => each.in !== 'path').map(toParameter);
  const properties = Object.fromEntries(
    body.map(({ name, description, schema }) => [name, { ...(schema as JsonSchema), description }]),
  );
  return {
    get,
    post: {
      ...others,
      operationId: `${id}ByPost`,
      description: `The same as GET, with the parameters in the body: for cursors that are too long for a URL. ${get.description}`,
      parameters: path,
      requestBody: { required: true, content: { 'application/json': { schema: { type: 'object', properties } } } },
    },
  };
}

function toOperation(id: string, route: Route): JsonSchema {
  return {
    operationId: id,
    summary: route.summary,
    description: `${route.description} ${describeRole(route)}`,
    tags: [routeTag(route)],
    ...(route.role === 'none' && { security: [] }),
    'x-porthole-role': route.role,
    parameters: route.parameters.map(toParameter),
    ...(route.body && { requestBody: toRequestBody(route.body) }),
    responses: { ...successResponses(route), ...errorResponses([...route.errors, ...COMMON_ERRORS], route) },
  };
}

function toRequestBody(fields: NonNullable<Route['body']>): JsonSchema {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, description]) => [name, { type: 'string', description }]),
  );
  const schema = { type: 'object', properties, required: Object.keys(fields) };
  return { required: true, content: { 'application/json': { schema } } };
}

/** As text: security requirements of OpenAPI have roles only for OAuth. */
function describeRole({ role }: Route): string {
  if (role === 'none') return 'Needs no credentials.';
  return role === 'any' ? 'Needs credentials, but no role.' : `Needs the role \`${role}\`.`;
}

const TAGS = {
  'node state': 'The configuration, logs and events of the node that answers.',
  cluster: 'The same of all members of its cluster, and which these are.',
  operations: 'Health, metrics, documentation and the console.',
} as const;

function routeTag({ path }: Route): keyof typeof TAGS {
  if (path.startsWith('/api/v1/cluster/')) return 'cluster';
  return path.startsWith('/api/v1/') ? 'node state' : 'operations';
}

function toParameter(parameter: Parameter): JsonSchema {
  const { values, repeated, ...shape } = parameter.codec.schema;
  const one = { ...shape, ...(values && { enum: values }) };
  return {
    name: parameter.name,
    in: parameter.in ?? 'query',
    required: parameter.required ?? false,
    description: describeParameter(parameter),
    schema: repeated ? { type: 'array', items: one } : one,
  };
}

function successResponses({ response, otherResponses = {} }: Route): JsonSchema {
  const content = { [response.contentType]: toMedia(response.schema), ...documentMedia(response) };
  const others = Object.entries(otherResponses).map(([status, description]) => [
    status,
    { description, ...(status !== '304' && { content }) },
  ]);
  const description = response.each
    ? `Many of these, one per ${response.each}; the last is an \`end\`.`
    : 'The response.';
  return { 200: { description, content }, ...Object.fromEntries(others) };
}

function toMedia(name: SchemaName | undefined): JsonSchema {
  if (name === undefined) return { schema: { type: 'string' } };
  const schema = { $ref: `#/components/schemas/${name}` };
  return { schema, ...(name in EXAMPLES && { examples: { [name]: { $ref: `#/components/examples/${name}` } } }) };
}

/** Streams of lines are one document for clients that ask for JSON. */
function documentMedia({ schema: name, each }: Route['response']): JsonSchema {
  if (each !== 'line' || (name !== 'SearchItem' && name !== 'ClusterItem')) return {};
  const item = { $ref: `#/components/schemas/${name}` };
  const properties = {
    records: { type: 'array', items: item, description: 'Everything but the closing record.' },
    end: { ...item, description: 'The closing record.' },
  };
  const schema = { type: 'object', properties, required: ['records', 'end'], additionalProperties: false };
  return { [JSON_TYPE]: { schema, example: { records: [EXAMPLES[name]], end: EXAMPLE_ENDS[name] } } };
}

/** One entry per status, naming the codes it can carry. */
function errorResponses(codes: readonly ErrorCode[], { role, otherResponses = {} }: Route): JsonSchema {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const status = ERROR_KINDS[code].http;
    const isOfAccess = code === 'UNAUTHENTICATED' || code === 'FORBIDDEN';
    if ((role === 'none' && isOfAccess) || status in otherResponses) continue;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const content = { 'application/problem+json': toMedia('Problem') };
  const responses = [...byStatus].map(([status, list]) => [
    status,
    { description: list.map((code) => `${code}: ${ERROR_KINDS[code].title}.`).join(' '), content },
  ]);
  return Object.fromEntries(responses) as JsonSchema;
}

/* One response of each kind, for the OpenAPI document. The compiler checks each against its type, a test against its schema. */

const AT_MS = Date.UTC(2026, 10, 15, 10);

const NODE: SentTypes['Node'] = {
  hostIp: '10.0.0.12',
  hostName: 'broker-1',
  grpcPort: 7301,
  httpPort: 7300,
  version: '0.1.0',
  onlineTime: AT_MS - 3_600_000,
};

const CONFIG: SentTypes['NodeConfig'] = {
  config: '[query]\ntimeout = "30s"\npassword = "******"\n',
  node: NODE,
};

const RECORD: SentTypes['FoundRecord'] = {
  type: 'record',
  file: 'broker.log',
  offset: 18_042,
  bytes: 96,
  cursor: 'MTgwNDI.Yg',
  timeMs: AT_MS,
  level: 'ERROR',
  source: 'flow/write.go:88',
  tags: ['Broker', 'Flow'],
  message: 'timeout of shard 3',
  context: { shard: 3, elapsedMs: 5012 },
};

const COVERAGE: SentTypes['ScanReport'] = {
  reason: 'exhausted',
  records: 1,
  scannedBytes: 4_194_304,
  skippedBytes: 1_048_576,
  scannedFiles: 2,
  coveredFromMs: AT_MS - 86_400_000,
  coveredToMs: AT_MS,
  problems: [],
  elapsedMs: 12,
};

const FILE: SentTypes['LogFile'] = {
  name: 'broker.log',
  size: 1_048_576,
  modifiedMs: AT_MS,
  compressed: false,
  family: 'broker.log',
  state: 'live',
  format: 'contract',
  firstTimeMs: AT_MS - 86_400_000,
  lastTimeMs: AT_MS,
  problem: null,
};

const REPORT: SentTypes['MemberReport'] = {
  id: 'broker-1',
  outcome: 'ok',
  detail: null,
  elapsedMs: 14,
  count: 1,
  asOfMs: null,
  state: 'up',
  sinceMs: AT_MS - 3_600_000,
};

const COMPLETE: SentTypes['Coverage'] = { askedFromMs: null, askedToMs: null, missing: [], isComplete: true };

const MEMBERSHIP: SentTypes['Membership'] = { kind: 'etcd', state: 'ok', detail: null, asOfMs: AT_MS };

const CLUSTER_RECORD: SentTypes['ClusterRecord'] = { ...RECORD, node: 'broker-1', atMs: AT_MS };

const CLUSTER_END: SentTypes['ClusterEnd'] = {
  type: 'end',
  reason: 'exhausted',
  records: 1,
  scannedBytes: 4_194_304,
  skippedBytes: 0,
  elapsedMs: 20,
  coveredFromMs: AT_MS - 86_400_000,
  coveredToMs: AT_MS,
  members: [REPORT],
  coverage: COMPLETE,
  membership: MEMBERSHIP,
  problems: [],
  cursor: null,
};

const SHARD = {
  name: 'shard',
  types: ['number'],
  records: 120,
  distinct: 16,
  isDistinctExact: true,
  examples: ['13', '4'],
} satisfies SentTypes['FieldSummary'];

const TOP = { by: 'shard', others: 103, missing: 1, distinct: 16, isExact: true };
const SHARD_13 = { value: '13', count: 17 };

const GROUP: SentTypes['DigestGroup'] = {
  level: 'ERROR',
  source: 'flow/write.go:88',
  shape: null,
  count: 17,
  firstMs: AT_MS - 600_000,
  lastMs: AT_MS,
  isNew: false,
  sample: RECORD,
};

/** By the schema of the response. */
const HISTORY: SentTypes['ConfigHistory'] = {
  periods: [
    {
      version: '4f1d0a7be2c93a55',
      fromMs: AT_MS - 600_000,
      toMs: null,
      changes: [{ key: 'query.timeout', before: '30s', after: '3s' }],
    },
    { version: '90c2ee41d7b8f016', fromMs: AT_MS - 86_400_000, toMs: AT_MS - 600_000, changes: null },
  ],
  isComplete: true,
};

const INCIDENT: SentTypes['Incident'] = {
  headline: 'New errors on broker-1, 1 min 57 s after its query.timeout changed',
  isUnusual: true,
  lookedFromMs: AT_MS - 1_800_000,
  lookedToMs: AT_MS + 1_800_000,
  fromMs: AT_MS,
  toMs: AT_MS + 300_000,
  isOver: true,
  steps: [
    {
      kind: 'first-error',
      timeMs: AT_MS,
      uncertaintyMs: 0,
      delayMs: 0,
      nodes: ['broker-1'],
      title: 'First new error, on broker-1: a pattern never seen before',
      detail: 'flow/write.go:88 · 17 records, 0 → 3.4 a minute',
      changes: [],
      record: CLUSTER_RECORD,
      shares: [],
      path: '/api/v1/cluster/log/search?source=flow%2Fwrite.go%3A88',
    },
  ],
  standouts: [
    {
      kind: 'pattern',
      score: 55.1,
      title: 'flow/write.go:88 new on broker-1',
      detail: 'ERROR: 0 → 3.4 a minute, never before',
      nodes: ['broker-1'],
      timeMs: AT_MS,
      event: null,
      keys: [],
      pattern: 'flow/write.go:88',
      field: null,
      value: null,
      shares: [{ field: 'shard', value: '13', count: 17, of: 17 }],
      record: CLUSTER_RECORD,
      counts: {
        during: 17,
        duringMs: 300_000,
        before: 0,
        beforeMs: 3_600_000,
        most: 17,
        others: 0,
        ratioBefore: 87.2,
        ratioOthers: 37.4,
      },
      paths: ['/api/v1/cluster/log/digest?source=flow%2Fwrite.go%3A88'],
    },
  ],
  before: { fromMs: AT_MS - 3_600_000, toMs: AT_MS, records: 7200, errors: 0, warnings: 12, nodes: 3 },
  during: { fromMs: AT_MS, toMs: AT_MS + 300_000, records: 617, errors: 17, warnings: 3, nodes: 3 },
  after: { fromMs: AT_MS + 300_000, toMs: AT_MS + 1_800_000, records: 3000, errors: 0, warnings: 5, nodes: 3 },
  requests: 22,
  members: [REPORT],
  coverage: COMPLETE,
};

const EXAMPLES = {
  NodeConfig: CONFIG,
  NodeSettings: {
    observes: 'self',
    file: '/etc/porthole/porthole.toml',
    settings: [
      { key: 'http.port', value: 7300, default: 7300, changed: false, source: 'default', secret: false },
      { key: 'log.dir', value: '/var/log/broker', default: 'log', changed: true, source: 'file', secret: false },
    ],
    disk: { state: 'same', differs: [], detail: null },
  },
  LogList: [{ name: FILE.name, size: FILE.size }],
  LogFiles: [FILE],
  SearchItem: RECORD,
  FollowItem: RECORD,
  Histogram: {
    bucketMs: 60_000,
    buckets: [{ startMs: AT_MS, counts: { INFO: 120, ERROR: 1 } }],
    untimed: 0,
    end: COVERAGE,
  },
  Digest: { groups: [GROUP], totalGroups: 1, ungrouped: 0, end: COVERAGE },
  Fields: { fields: [SHARD], totalFields: 1, records: 121, isSample: false, end: COVERAGE },
  Top: { ...TOP, values: [SHARD_13], end: COVERAGE },
  QueryExplanation: {
    query: 'level>=warn shard=13',
    words: 'level is WARN or higher and shard is 13',
  },
  NodeDescription: {
    node: NODE,
    observes: 'service',
    clockMs: AT_MS,
    timeZone: 'Europe/Berlin',
    utcOffsetMinutes: 60,
    uptimeMs: 3_600_000,
    versions: { porthole: '0.1.0', node: '22.21.1' },
    capabilities: ['config', 'logList', 'logView', 'logSearch'],
    problems: [],
    role: 'broker',
    labels: { rack: '7', zone: 'eu-1' },
  },
  ClusterNodes: {
    cluster: 'production',
    membership: MEMBERSHIP,
    nodes: [
      {
        id: 'broker-1',
        role: 'broker',
        node: NODE,
        url: 'http://10.0.0.12:7300/',
        isSelf: true,
        state: 'up',
        sinceMs: AT_MS - 3_600_000,
        report: REPORT,
        clock: { offsetMs: 0, uncertaintyMs: 0 },
        timeZone: 'Europe/Berlin',
        uptimeMs: 3_600_000,
        lastRecordMs: AT_MS,
        recentErrors: 17,
        lastSeenMs: AT_MS,
        problems: [],
        labels: { rack: '7', zone: 'eu-1' },
      },
    ],
  },
  ConfigHistory: HISTORY,
  ConfigVersion: {
    version: '4f1d0a7be2c93a55',
    config: CONFIG.config,
    settings: [{ key: 'query.timeout', value: '3s' }],
  },
  Incident: INCIDENT,
  ClusterConfigHistory: { nodes: [{ id: 'broker-1', history: HISTORY }], members: [REPORT] },
  ForgottenMember: { id: 'broker-3', members: [REPORT] },
  ClusterConfig: { configs: [{ id: 'broker-1', role: 'broker', config: CONFIG, report: REPORT }] },
  ClusterConfigDiff: {
    roles: [
      {
        role: 'broker',
        nodes: ['broker-1', 'broker-2', 'broker-3'],
        comparedKeys: 42,
        notCompared: [],
        differences: [
          {
            key: 'query.timeout',
            secret: false,
            isExpected: false,
            values: [
              { value: '30s', nodes: ['broker-1', 'broker-2'], isMajority: true, isSameMeaning: false },
              { value: '3s', nodes: ['broker-3'], isMajority: false, isSameMeaning: false },
            ],
          },
        ],
      },
    ],
    members: [REPORT],
    coverage: COMPLETE,
  },
  ClusterLogFiles: { files: [{ ...FILE, node: 'broker-1' }], members: [REPORT], coverage: COMPLETE },
  ClusterItem: CLUSTER_RECORD,
  ClusterFollowItem: CLUSTER_RECORD,
  ClusterHistogram: {
    bucketMs: 60_000,
    buckets: [{ startMs: AT_MS, counts: { ERROR: 1 }, nodes: { 'broker-1': 1 } }],
    untimed: 0,
    counted: null,
    members: [REPORT],
    coverage: COMPLETE,
  },
  ClusterFields: {
    fields: [{ ...SHARD, nodes: { 'broker-1': 120 } }],
    totalFields: 1,
    records: 121,
    isSample: false,
    counted: null,
    members: [REPORT],
    coverage: COMPLETE,
  },
  ClusterTop: {
    ...TOP,
    values: [{ ...SHARD_13, nodes: { 'broker-1': 17 } }],
    counted: null,
    members: [REPORT],
    coverage: COMPLETE,
  },
  ClusterDigest: {
    groups: [{ ...GROUP, sample: CLUSTER_RECORD, nodes: { 'broker-1': 17 } }],
    totalGroups: 1,
    ungrouped: 0,
    members: [REPORT],
    coverage: COMPLETE,
  },
  ClientSession: { name: 'ada', kind: 'token', roles: ['viewer', 'config'] },
  SavedViews: {
    views: [{ name: 'Slow queries', query: 'query=cost%3E500ms&last=1h', changedMs: AT_MS, changedBy: 'ada' }],
    sharing: 'cluster',
    problem: null,
  },
  DownloadTicket: { ticket: 'q3Vn0c1pXo5k', expiresInMs: 60_000 },
  Alive: { status: 'ok' },
  Readiness: { status: 'ready', checks: [{ name: 'log directory', ok: true, detail: '/var/log/broker' }] },
  Problem: toProblem(
    new PortholeError('LOG_FILE_NOT_FOUND', 'no log file named "brocker.log": did you mean "broker.log"?'),
  ),
} as const satisfies { [Name in keyof SentTypes]?: SentTypes[Name] };

/** The closing record of each kind of stream. */
const EXAMPLE_ENDS = {
  SearchItem: { type: 'end', ...COVERAGE, cursor: null } satisfies SentTypes['SearchEnd'],
  ClusterItem: CLUSTER_END,
} as const;
