import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ERROR_KINDS } from '../errors/errors.ts';
import { SCHEMAS } from '../schemas/generated/schemas.ts';
import { getMemberOperation, MEMBER_ROUTE_IDS } from './member-routes.ts';
import { buildOpenApi } from './openapi.ts';
import { getRoute, ROUTE_IDS, type RouteId } from './routes.ts';

interface Media {
  schema: object;
  example?: unknown;
  examples?: object;
}

interface Operation {
  operationId: string;
  parameters: { name: string; in: string; required: boolean; schema: object }[];
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
}

const document = buildOpenApi({ version: '1.2.3' }) as unknown as {
  paths: Record<string, Record<'get' | 'delete' | 'put', Operation>>;
  components: { schemas: object; examples: Record<string, { value: unknown }> };
};

const LINTER = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), 'bin/cli.js');

describe('the OpenAPI document', () => {
  it('declares the tags that its operations have, and no others', () => {
    const { paths, tags } = buildOpenApi({ version: '1' }) as {
      paths: Record<string, Record<string, { tags: string[] }>>;
      tags: { name: string; description: string }[];
    };
    const used = Object.values(paths).flatMap((path) => Object.values(path).flatMap((operation) => operation.tags));
    expect(tags.map(({ name }) => name).sort()).toEqual([...new Set(used)].sort());
    expect(tags.every(({ description }) => description.endsWith('.'))).toBe(true);
  });

  it('passes the strict rules of a linter', () => {
    const dir = mkdtempSync(join(tmpdir(), 'porthole-openapi-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    writeFileSync(join(dir, 'openapi.json'), JSON.stringify(document));
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' };
    const args = [LINTER, 'lint', '--extends=recommended-strict', '--format=json', 'openapi.json'];
    const report = execFileSync(process.execPath, args, {
      cwd: dir,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect((JSON.parse(report) as { totals: object }).totals).toMatchObject({ errors: 0, warnings: 0 });
  });

  it('has every route that is not part of a page, and nothing else', () => {
    const withPost = (id: RouteId, name: string) => (getRoute(id).post === 'json' ? [name, `${name}ByPost`] : [name]);
    const wanted = [
      ...ROUTE_IDS.filter((id) => !getRoute(id).page).flatMap((id) => withPost(id, id)),
      ...MEMBER_ROUTE_IDS.flatMap((id) => withPost(id, getMemberOperation(id))),
    ];
    expect(
      Object.values(document.paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId)),
    ).toEqual(wanted);
  });

  it('documents each error of a route under its status, by its code', () => {
    for (const id of ROUTE_IDS) {
      const { path, page, errors, otherResponses: alsoAnswers = {}, method } = getRoute(id);
      if (page) continue;
      const operation = method === 'DELETE' ? 'delete' : method === 'PUT' ? 'put' : 'get';
      const responses = document.paths[path]?.[operation].responses ?? {};
      for (const code of errors) {
        const { http } = ERROR_KINDS[code];
        if (!(http in alsoAnswers)) expect(responses[http]?.description).toContain(code);
      }
    }
  });

  it('names its parameters as the parsers read them', () => {
    const view = document.paths['/api/v1/log/view']?.get.parameters ?? [];
    expect(view.map(({ name, required }) => ({ name, required }))).toEqual([
      { name: 'file', required: true },
      { name: 'size', required: false },
    ]);
  });

  it('has the repetition, the values and the range of parameters', () => {
    const search = document.paths['/api/v1/log/search']?.get.parameters ?? [];
    const schemaOf = (name: string) => search.find((parameter) => parameter.name === name)?.schema;
    expect(schemaOf('q')).toEqual({ type: 'array', items: { type: 'string' } });
    expect(schemaOf('order')).toEqual({ type: 'string', enum: ['newest', 'oldest'] });
    expect(schemaOf('before')).toEqual({ type: 'integer', minimum: 0, maximum: 100 });
    expect(schemaOf('raw')).toEqual({ type: 'boolean' });
  });

  it('documents a stream by its items', () => {
    const { description, content } = document.paths['/api/v1/log/follow']?.get.responses[200] ?? {};
    expect(description).toContain('one per event');
    expect(content).toMatchObject({
      'text/event-stream': { schema: { $ref: '#/components/schemas/ClusterFollowItem' } },
    });
  });

  it('documents a stream of lines as one document, too', () => {
    const { content = {} } = document.paths['/api/v1/log/search']?.get.responses[200] ?? {};
    expect(Object.keys(content)).toEqual(['application/x-ndjson', 'application/json; charset=utf-8']);
  });

  it('has examples of the responses that are used most, and each is valid', () => {
    const ajv = new Ajv2020({ strict: false }).addSchema({ $id: 'all', components: document.components });
    const check = (schema: object, value: unknown) => {
      const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"all#/')) as object);
      expect({ valid: validate(value), errors: validate.errors }).toEqual({ valid: true, errors: null });
    };
    const examples = Object.entries(document.components.examples);
    for (const [name, { value }] of examples) check({ $ref: `#/components/schemas/${name}` }, value);
    const media = Object.values(document.paths)
      .flatMap((path) => Object.values(path))
      .flatMap(({ responses }) => Object.values(responses))
      .flatMap(({ content = {} }) => Object.values(content));
    const withExample = media.filter(({ example }) => example !== undefined);
    for (const { schema, example } of withExample) check(schema, example);
    expect(withExample.length).toBeGreaterThan(0);
    const used = new Set(media.flatMap(({ examples: named = {} }) => Object.keys(named)));
    expect([...used].sort()).toEqual(examples.map(([name]) => name).sort());
  });

  it('has the routes of a member with its id in the path, and with the errors of forwarding', () => {
    const { parameters = [], responses = {} } = document.paths['/api/v1/nodes/{id}/log/view']?.get ?? {};
    expect(parameters.map(({ name, in: location, required }) => `${name} ${location} ${required}`)).toEqual([
      'id path true',
      'file query true',
      'size query false',
    ]);
    expect(parameters[0]?.schema).toEqual({ type: 'string', pattern: '^[A-Za-z0-9.:_-]{1,128}$' });
    expect(responses[404]?.description).toMatch(/LOG_FILE_NOT_FOUND.*MEMBER_NOT_FOUND/);
    expect(responses[502]?.description).toMatch(/UNREACHABLE.*BAD_ANSWER/);
    expect(document.paths['/api/v1/nodes/{id}/health/live']).toBeUndefined();
  });

  it('refers only to schemas it has', () => {
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g);
    for (const [, name = ''] of references) expect(Object.keys(SCHEMAS)).toContain(name);
  });
});
