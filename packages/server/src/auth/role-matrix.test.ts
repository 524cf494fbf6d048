import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import {
  codeOf,
  getMemberRoute,
  getRoute,
  MEMBER_ROUTE_IDS,
  ROUTE_IDS,
  type Role,
  type Route,
  type RouteRole,
} from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import { loadServiceDefinition, METHOD_ROUTES, type MethodName, requiredRole } from '../grpc/service-definition.ts';
import { connect } from '../grpc/testing/connect.ts';
import { type GuardedNode, ROLE_NAMES, startGuardedNode } from './testing/guarded-node.ts';
import { signJwt } from './testing/jwt-maker.ts';
import { isAllowed, roleMatrix } from './testing/role-matrix.ts';
import { createTlsClient, type SendTlsRequest } from './testing/tls-client.ts';

const PAGE = join(import.meta.dirname, '../../../../docs/security.md');
const TABLE = /(<!-- roles: begin -->\n\n)([\s\S]*?)(\n\n<!-- roles: end -->)/;

const METHODS = Object.keys(METHOD_ROUTES) as MethodName[];
const definition = loadServiceDefinition();

interface Caller {
  title: string;
  roles: readonly Role[] | undefined;
  token?: string;
  certificate?: { cert: Buffer; key: Buffer };
}

/** Every kind of credentials with every role, and nobody. */
async function createCallers({ tokens, signer, issueCertificate }: GuardedNode): Promise<Caller[]> {
  const callers: Caller[] = [{ title: 'nobody', roles: undefined }];
  for (const [name, roles] of Object.entries(ROLE_NAMES)) {
    callers.push({ title: `token ${name}`, roles, token: tokens[name] ?? '' });
    callers.push({ title: `JWT ${name}`, roles, token: await signJwt(signer, { sub: name, groups: [name] }) });
    callers.push({ title: `certificate ${name}`, roles, certificate: issueCertificate(name) });
  }
  return callers;
}

const FILES = { 'a.log': '2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: text\n' };
const SETTINGS = { cluster: { nodeId: 'me' } };

function expectedOutcome(roles: Caller['roles'], wanted: RouteRole): string {
  if (isAllowed(roles, wanted)) return 'answered';
  return roles === undefined ? 'UNAUTHENTICATED' : 'FORBIDDEN';
}

/** HEAD: the same decision, and a follow ends. */
async function requestRoute(send: SendTlsRequest, { path, method }: Route, token: string | undefined): Promise<string> {
  const target = path.replace('{id}', 'me').replace('{name}', 'licences.txt');
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { status } = await send(`${target}?file=a.log`, { method: method ?? 'HEAD', headers });
  if (status === 401) return 'UNAUTHENTICATED';
  return status === 403 ? 'FORBIDDEN' : 'answered';
}

describe('the roles', () => {
  it('every route, over HTTPS, is served to exactly the roles it is for', async () => {
    const node = await startGuardedNode({ files: FILES, settings: SETTINGS });
    const routes = [...ROUTE_IDS.map(getRoute), ...MEMBER_ROUTE_IDS.map(getMemberRoute)];
    for (const { title, roles, token, certificate } of await createCallers(node)) {
      const send = createTlsClient(node.port, { ca: node.authority.cert, ...certificate });
      for (const route of routes) {
        const found = `${title} ${route.path}: ${await requestRoute(send, route, token)}`;
        expect(found).toBe(`${title} ${route.path}: ${expectedOutcome(roles, route.role)}`);
      }
    }
  });

  it('every gRPC method is served to exactly the roles it is for', async () => {
    const node = await startGuardedNode({ files: FILES, settings: SETTINGS });
    for (const { title, roles, token, certificate } of await createCallers(node)) {
      const channel = credentials.createSsl(node.authority.cert, certificate?.key, certificate?.cert);
      const connection = connect(node.running.node.grpcPort, { channel, ...(token !== undefined && { token }) });
      const call = async (method: MethodName) => {
        const request = { file: 'a.log', cursor: '', raw: false, by: 'level' } as never;
        if (!definition[method].responseStream) return connection.call(method, request);
        const stream = connection.stream(method, request);
        await stream.next();
        return stream.return(undefined);
      };
      for (const method of METHODS) {
        const found = await call(method).then(
          () => 'answered',
          // Only who may ask for a version learns that there is no such version.
          (error: unknown) => (codeOf(error) === 'CONFIG_VERSION_NOT_FOUND' ? 'answered' : codeOf(error)),
        );
        const wanted = getRoute(METHOD_ROUTES[method]).role;
        expect(`${title} ${method}: ${found}`).toBe(`${title} ${method}: ${expectedOutcome(roles, wanted)}`);
      }
    }
  });

  it('is documented (UPDATE_DOCS=1 updates it)', () => {
    const page = readFileSync(PAGE, 'utf8');
    const calls = [
      ...METHODS.map((name) => [name, definition[name].path] as const),
      ['Health', '/grpc.health.v1.Health/Check'] as const,
      ['ServerReflection', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'] as const,
    ];
    const table = roleMatrix(calls.map(([name, path]) => [`gRPC ${name}`, requiredRole(path)] as const));
    if (process.env.UPDATE_DOCS === '1')
      writeFileSync(
        PAGE,
        page.replace(TABLE, (_all, begin: string, _old, end: string) => begin + table + end),
      );
    else expect(TABLE.exec(page)?.[2]).toBe(table);
  });
});

describe('what stays open', () => {
  it('metrics, if they are not protected', async () => {
    const node = await startGuardedNode({ settings: { auth: { protectMetrics: false } } });
    const send = createTlsClient(node.port, { ca: node.authority.cert });
    expect((await send('/metrics')).status).toBe(200);
    expect((await send('/api/v1/log/list')).status).toBe(401);
  });

  it('a refusal names the required role and the identity', async () => {
    const node = await startGuardedNode();
    const send = createTlsClient(node.port, { ca: node.authority.cert });
    const { status, body } = await send('/api/v1/config', {
      headers: { authorization: `Bearer ${node.tokens.viewer}` },
    });
    expect({ status, ...(JSON.parse(body) as object) }).toMatchObject({
      status: 403,
      code: 'FORBIDDEN',
      detail: 'this needs the role "config"; you are known as "viewer" with the role "viewer"',
    });
  });
});
