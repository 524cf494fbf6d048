import { ERROR_KINDS, type ErrorCode, PortholeError, toProblem } from '../errors/errors.ts';
import { describeParameter, type Parameter } from '../params/parameter.ts';
import { SCHEMAS, type SchemaName } from '../schemas/generated/schemas.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import type * as Responses from '../schemas/response-types.ts';
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
      schemas: referencedSchemas(paths),
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

/** The schemas that the paths refer to, and those that these refer to. */
function referencedSchemas(paths: JsonSchema): JsonSchema {
  const found: Record<string, JsonSchema> = {};
  const collect = (value: JsonSchema) => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (found[name]) continue;
      const schema = SCHEMAS[name as SchemaName];
      found[name] = schema;
      collect(schema);
    }
  };
  collect(paths);
  return found;
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
  'node state':
    'Configuration, logs and events: of the node that answers, or of those that `nodes`, `role` and `label` select.',
  operations: 'Health, metrics, documentation and the console.',
} as const;

function routeTag({ path }: Route): keyof typeof TAGS {
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
  return {
    schema: toReference(name),
    ...(name in EXAMPLES && { examples: { [name]: { $ref: `#/components/examples/${name}` } } }),
  };
}

function toReference(name: SchemaName): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** Streams of lines are one document for clients that ask for JSON. */
function documentMedia({ schema: name, each }: Route['response']): JsonSchema {
  if (each !== 'line' || name !== 'ClusterItem') return {};
  const item = toReference(name);
  const properties = {
    records: { type: 'array', items: item, description: 'Everything but the closing record.' },
    end: { ...item, description: 'The closing record.' },
  };
  const schema = { type: 'object', properties, required: ['records', 'end'], additionalProperties: false };
  return { [JSON_TYPE]: { schema, example: EXAMPLE_DOCUMENT } };
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

/* Responses of the routes that are used most. A test checks each against its schema. */

const AT_MS = Date.UTC(2026, 10, 15, 10);

const NODE: Responses.NodeObject = {
  hostIp: '10.0.0.12',
  hostName: 'broker-1',
  grpcPort: 7301,
  httpPort: 7300,
  version: '0.1.0',
  onlineTime: AT_MS - 3_600_000,
};

const RECORD: Responses.ClusterRecord = {
  node: 'broker-1',
  atMs: AT_MS,
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

const MEMBER: Responses.MemberReport = {
  id: 'broker-1',
  outcome: 'ok',
  detail: null,
  elapsedMs: 12,
  count: 1,
  asOfMs: null,
  state: 'up',
  sinceMs: null,
};

const COVERAGE: Responses.Coverage = { askedFromMs: null, askedToMs: null, missing: [], isComplete: true };

/** By the schema of the response. */
const EXAMPLES = {
  NodeConfig: { config: '[query]\ntimeout = "30s"\npassword = "******"\n', node: NODE },
  LogList: [{ name: 'broker.log', size: 1_048_576 }],
  ClusterItem: RECORD,
  ClusterHistogram: {
    bucketMs: 60_000,
    buckets: [{ startMs: AT_MS, counts: { INFO: 120, ERROR: 1 }, nodes: { 'broker-1': 121 } }],
    untimed: 0,
    counted: null,
    members: [MEMBER],
    coverage: COVERAGE,
  },
  Problem: toProblem(
    new PortholeError('LOG_FILE_NOT_FOUND', 'no log file named "brocker.log": did you mean "broker.log"?'),
  ),
} as const satisfies { [Name in SchemaName]?: object };

const EXAMPLE_DOCUMENT = {
  records: [RECORD],
  end: {
    type: 'end',
    reason: 'exhausted',
    records: 1,
    scannedBytes: 4_194_304,
    skippedBytes: 1_048_576,
    coveredFromMs: AT_MS - 86_400_000,
    coveredToMs: AT_MS,
    problems: [],
    elapsedMs: 12,
    members: [MEMBER],
    membership: { kind: 'alone', state: 'ok', detail: null, asOfMs: AT_MS },
    coverage: COVERAGE,
    cursor: null,
  } satisfies Responses.ClusterEnd,
};
