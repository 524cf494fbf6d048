import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { RecordFilter } from '@porthole/logs/types';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { getMemberOperation, getMemberRoute, MEMBER_ROUTE_IDS } from '../routes/member-routes.ts';
import { buildOpenApi } from '../routes/openapi.ts';
import { getRoute, ROUTE_IDS } from '../routes/routes.ts';
import { CLOCK, describeRefusal } from '../testing/describe-refusal.ts';
import type { FILTER_ROWS } from './log-parameters.ts';
import { encodeParameters, type Parameter, parseParameters } from './parameter.ts';

/** A valid text for every codec whose values are not known from its schema. */
const SAMPLES: Readonly<Record<string, string>> = {
  timeMs: '@5',
  fromMs: '@1',
  toMs: '@2',
  newSinceMs: '@3',
  budgetMs: '5s',
  bucketMs: '1m',
  beforeMs: '30s',
  afterMs: '2s',
  atMs: '@4',
  positions: '@a=b',
  floors: 'broker-1=1794743999123',
  query: 'shard=13',
  labels: 'zone=eu-*',
};

/** A second value of parameters that may be repeated. */
const SECOND_SAMPLES: Readonly<Record<string, string>> = {
  floors: '*=-1',
  labels: 'rack=7',
  kinds: 'killed',
};

const OPERATIONS = [
  ...ROUTE_IDS.filter((id) => !getRoute(id).page).map((id) => ({ operation: id as string, route: getRoute(id) })),
  ...MEMBER_ROUTE_IDS.map((id) => ({ operation: getMemberOperation(id), route: getMemberRoute(id) })),
];

const ROWS: [name: string, row: Parameter][] = OPERATIONS.flatMap(({ operation, route }) =>
  route.parameters.map((row): [string, Parameter] => [`${operation} ${row.name}`, row]),
);

const document = buildOpenApi({ version: '1.2.3' }) as unknown as {
  paths: Record<string, Record<string, { operationId: string; parameters: { name: string; in: string }[] }>>;
};

function sampleTexts({ codec: { schema }, field }: Parameter): string[] {
  if (schema.type === 'boolean') return ['true'];
  if (schema.type === 'integer') return [String(Math.max(1, schema.minimum ?? 0))];
  const sample = SAMPLES[field] ?? schema.values?.[0] ?? 'some-text';
  return schema.repeated ? [sample, SECOND_SAMPLES[field] ?? 'another-text'] : [sample];
}

function toQuery({ name }: Parameter, texts: readonly string[]): URLSearchParams {
  return new URLSearchParams(texts.map((text): [string, string] => [name, text]));
}

describe('every parameter of every route', () => {
  it.each(OPERATIONS)('of $operation is in the OpenAPI document, once', ({ operation, route }) => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const documented = operations.find(({ operationId }) => operationId === operation)?.parameters ?? [];
    expect(documented.map(({ name }) => name)).toEqual(route.parameters.map(({ name }) => name));
    expect(new Set(documented.map(({ name }) => name)).size).toBe(documented.length);
    expect(new Set(route.parameters.map(({ field }) => field)).size).toBe(documented.length);
  });

  it.each(ROWS)('%s is parsed, encoded and parsed again as the same value', (_name, row) => {
    const given = toQuery(row, sampleTexts(row));
    const options = { clock: CLOCK, maxRecords: 1000 };
    const parsed = parseParameters([row], given, options);
    expect(Object.keys(parsed)).toEqual([row.field]);
    const encoded = encodeParameters([row], parsed);
    expect([...encoded.keys()]).toContain(row.name);
    expect(parseParameters([row], encoded, options)).toEqual(parsed);
  });

  it.each(ROWS)('%s is its default, or absent, when it is empty', (_name, row) => {
    const expected = row.default === undefined ? {} : { [row.field]: row.default };
    expect(parseParameters([row], new URLSearchParams({ [row.name]: '' }))).toEqual(expected);
  });

  it.each(ROWS.filter(([, { codec }]) => !codec.schema.repeated))('%s is refused when it is given twice', (_, row) => {
    const twice = toQuery(row, [...sampleTexts(row), ...sampleTexts(row)]);
    const refusal = describeRefusal(() => parseParameters([row], twice, { clock: CLOCK }));
    expect(refusal).toBe(`BAD_REQUEST: the parameter "${row.name}" is given 2 times`);
  });

  it.each(ROWS)('%s has a field in the proto and a flag of the CLI, or says why not', (_name, { proto, cli }) => {
    if (typeof proto === 'string') expect(proto).toMatch(/^[a-z_]+$/);
    else expect(proto.absent).not.toBe('');
    expect('absent' in cli ? cli.absent : cli.about).not.toBe('');
  });
});

it('the filters of the table are those of the engine', () => {
  expectTypeOf<(typeof FILTER_ROWS)[number]['field']>().toEqualTypeOf<keyof RecordFilter>();
});

it('rows and requests do not import the docs of parameters, which browsers need not load', () => {
  const folders = [import.meta.dirname, join(import.meta.dirname, '../requests')];
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'parameter-docs.ts')
      .map((name) => join(folder, name)),
  );
  expect(files.map((file) => basename(file))).toEqual(expect.arrayContaining(['codecs.ts', 'record-requests.ts']));
  expect(files.filter((file) => /from '.*parameter-docs/.test(readFileSync(file, 'utf8')))).toEqual([]);
});
