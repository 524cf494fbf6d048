import { getRoute, type NodeState, PATHS, PortholeError, ROUTE_IDS } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { openRequest, requestJson, requestProblem, sendRequest } from '../../testing/send-request.ts';
import { CLUSTER_END, CLUSTER_RESPONSES, clusterRecord } from '../testing/cluster-responses.ts';
import { FakeCluster } from '../testing/fake-cluster.ts';
import { schemaProblems } from '../testing/schema-problems.ts';
import { serveCluster } from '../testing/serve-cluster.ts';

/** Routes that take nodes, without the bundle, which is made of many responses. */
const CLUSTER_IDS = ROUTE_IDS.filter((id) => {
  const { parameters } = getRoute(id);
  if (id === 'configVersion') return false; // of one node
  return id === 'nodes' || (id !== 'bundle' && parameters.some(({ name }) => name === 'nodes'));
});

/** `time` is what records around one cannot do without, and `by` what counts by value cannot. */
const askAll = (path: string) => `${path}?nodes=*&time=@1&by=shard`;
const REQUEST_PATHS = CLUSTER_IDS.map((id) => askAll(getRoute(id).path));

const WHOLE: [string, keyof typeof CLUSTER_RESPONSES, string][] = [
  [PATHS.nodes, 'nodes', 'ClusterNodes'],
  [PATHS.settings, 'config', 'ClusterConfig'],
  [PATHS.configDiff, 'configDiff', 'ClusterConfigDiff'],
  [PATHS.logFiles, 'logFiles', 'ClusterLogFiles'],
  [PATHS.logHistogram, 'logHistogram', 'ClusterHistogram'],
  [PATHS.logDigest, 'logDigest', 'ClusterDigest'],
  [PATHS.logFields, 'logFields', 'ClusterFields'],
  [PATHS.logTop, 'logTop', 'ClusterTop'],
];

describe('what members request of each other', () => {
  it('are what this node has recorded', async () => {
    const cluster = new FakeCluster();
    const { port } = await serveCluster(cluster);
    const path = PATHS.recording.replace('{id}', 'db-7%3A7300');
    expect(await requestJson(port, path)).toEqual(CLUSTER_RESPONSES.recordingHead);
    expect(cluster.last).toMatchObject({ verb: 'recordingHead', request: 'db-7:7300' });
    expect(await requestProblem(port, `${path}%2f`)).toMatchObject({ status: 404 });
  });
});

describe('a past configuration of another node', () => {
  const path = `${PATHS.configHistory}/1f2e?nodes=b`;
  const versionOf = (config: string): Partial<NodeState> => ({
    configVersion: async (version) => ({ version, config, settings: [] }),
  });
  const fails = async () => {
    throw new PortholeError('UNREACHABLE', 'it does not respond');
  };

  it('is that of the member', async () => {
    const { port } = await serveCluster(new FakeCluster({ b: versionOf('its own') }));
    expect(await requestJson(port, path)).toEqual({ version: '1f2e', config: 'its own', settings: [] });
  });

  it('is what was recorded of one that does not return it; if nothing was, it fails as the member does', async () => {
    const cluster = new FakeCluster({ b: { configVersion: fails } });
    const recordedMember = () => versionOf('recorded') as NodeState;
    const { port } = await serveCluster(Object.assign(cluster, { recordedMember }));
    expect(await requestJson(port, path)).toMatchObject({ config: 'recorded' });
    const nothing = { configVersion: fails } as unknown as NodeState;
    const other = await serveCluster(Object.assign(cluster, { recordedMember: () => nothing }));
    expect(await requestProblem(other.port, path)).toMatchObject({ status: 502, code: 'UNREACHABLE' });
  });

  it('is of one node, which exists, and not asked for by a member', async () => {
    const { port } = await serveCluster(new FakeCluster({ b: versionOf('') }));
    expect(await requestProblem(port, path.replace('=b', '=*'))).toMatchObject({ code: 'PARAMETER_INVALID' });
    expect(await requestProblem(port, path.replace('=b', '=c'))).toMatchObject({ code: 'MEMBER_NOT_FOUND' });
    const headers = { 'Porthole-Via': 'c' };
    expect(await requestProblem(port, path, { headers })).toMatchObject({ code: 'REQUEST_LOOP' });
  });
});

describe('the order to forget a member', () => {
  const path = `${PATHS.nodes}/db-7%3A7300`;

  it('is passed to the cluster, and from a member only for this node', async () => {
    const cluster = new FakeCluster();
    const { port } = await serveCluster(cluster);
    expect(await requestJson(port, path, { method: 'DELETE' })).toEqual(CLUSTER_RESPONSES.forget);
    expect(schemaProblems(CLUSTER_RESPONSES.forget, 'ForgottenMember')).toEqual([]);
    await sendRequest(port, path, { method: 'DELETE', headers: { 'Porthole-Via': 'broker-1' } });
    const orders = cluster.calls.map(({ verb, request, options }) => ({
      verb,
      request,
      onlyHere: 'onlyHere' in options && options.onlyHere,
    }));
    expect(orders).toEqual([
      { verb: 'forget', request: 'db-7:7300', onlyHere: false },
      { verb: 'forget', request: 'db-7:7300', onlyHere: true },
    ]);
  });

  it.each(['GET', 'HEAD', 'POST', 'PUT'])('is not given by %s', async (method) => {
    const cluster = new FakeCluster();
    const { port } = await serveCluster(cluster);
    const { status, headers } = await sendRequest(port, path, { method });
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'DELETE' });
    expect(cluster.calls).toEqual([]);
  });

  it('is not taken by any other route', async () => {
    const { port } = await serveCluster(new FakeCluster());
    const { status, headers } = await sendRequest(port, PATHS.nodes, { method: 'DELETE' });
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD' });
  });
});

describe('a response of the cluster', () => {
  it.each(WHOLE)('of %s is what the cluster returns', async (path, verb) => {
    const cluster = new FakeCluster();
    const { port } = await serveCluster(cluster);
    expect(await requestJson(port, askAll(path))).toEqual(CLUSTER_RESPONSES[verb]);
    expect(cluster.calls.map((asked) => asked.verb)).toEqual([verb]);
    expect(cluster.last?.options.signal).toBeInstanceOf(AbortSignal);
  });

  it.each(WHOLE)('of %s is exactly of its schema', async (path, verb, schema) => {
    const id = CLUSTER_IDS.find((candidate) => getRoute(candidate).path === path);
    expect(id && getRoute(id).response.schema).toBe(schema);
    expect(schemaProblems(CLUSTER_RESPONSES[verb], schema as 'ClusterNodes')).toEqual([]);
  });

  it.each(CLUSTER_IDS.map((id) => getRoute(id)))(
    'of $path has the content type of the table',
    async ({ path, response: answer }) => {
      const cluster = new FakeCluster();
      cluster.found.push([]);
      cluster.followed.push([]);
      // A report is made of whole responses.
      if (path === PATHS.incident) cluster.found.end();
      const { port } = await serveCluster(cluster);
      const { status, headers } = await sendRequest(port, askAll(path), { method: 'HEAD' });
      expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: answer.contentType });
    },
  );

  it.each(REQUEST_PATHS)('%s is refused to a member, before the cluster is queried', async (path) => {
    const cluster = new FakeCluster();
    const { port } = await serveCluster(cluster);
    for (const via of ['broker-1', '']) {
      const { status, code } = await requestProblem(port, path, { headers: { 'Porthole-Via': via } });
      expect({ status, code }).toEqual({ status: 400, code: 'REQUEST_LOOP' });
    }
    expect(cluster.calls).toEqual([]);
  });

  it.each(REQUEST_PATHS)('%s without a cluster is that the node cannot', async (path) => {
    const { port } = await serveCluster(undefined);
    expect(await requestProblem(port, path)).toMatchObject({ status: 501, code: 'NOT_SUPPORTED' });
  });

  it.each(REQUEST_PATHS)('%s that fails is a problem with the code of the failure', async (path) => {
    const cluster = new FakeCluster();
    const { port } = await serveCluster(cluster);
    cluster.failure = new PortholeError('MEMBER_NOT_FOUND', 'no member "x"');
    expect(await requestProblem(port, path)).toMatchObject({
      status: 404,
      code: 'MEMBER_NOT_FOUND',
      detail: 'no member "x"',
    });
    cluster.failure = new Error('/home/ann/secret');
    const { status, code, detail } = await requestProblem(port, path);
    expect({ status, code }).toEqual({ status: 500, code: 'INTERNAL' });
    expect(detail).not.toContain('secret');
  });

  it('is sent to the selected members, with the filter of a node', async () => {
    const cluster = new FakeCluster();
    const { port } = await serveCluster(cluster);
    await sendRequest(port, `${PATHS.logDigest}?nodes=broker-*&nodes=s%3A1&role=broker&level=warn&q=x&budget=5s`);
    expect(cluster.last).toMatchObject({
      request: { nodes: ['broker-*', 's:1'], role: 'broker', minLevel: 'WARN', terms: ['x'], limit: 50 },
      options: { budgetMs: 5000 },
    });
    await sendRequest(port, `${PATHS.configDiff}?nodes=&role=`);
    expect(cluster.last?.request).toEqual({});
  });
});

describe('a search of the cluster', () => {
  const SEARCH = `${PATHS.logSearch}?nodes=*`;

  it('is sent line by line, each of its schema, and ends with its end', async () => {
    const cluster = new FakeCluster();
    const items = [clusterRecord(1), clusterRecord(2, { isUnsure: true }), CLUSTER_END];
    cluster.found.push([], items.slice(0, 1), [], items.slice(1)).end();
    const { port, slots } = await serveCluster(cluster);
    const { headers, body } = await sendRequest(port, `${SEARCH}&q=x&limit=5&cursor=c9&budget=1s`);
    expect(headers['content-type']).toBe('application/x-ndjson');
    const lines = body.toString().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(items);
    expect(items.flatMap((item) => schemaProblems(item, 'ClusterItem'))).toEqual([]);
    expect(cluster.last?.request).toEqual({
      terms: ['x'],
      limit: 5,
      order: 'newest',
      before: 0,
      after: 0,
      start: { cursor: 'c9' },
    });
    expect(cluster.last?.options.budgetMs).toBe(1000);
    await eventually(() => expect([cluster.found.closed, slots.taken]).toEqual([true, 0]));
  });

  it.each([`${SEARCH}&limit=5`, `${PATHS.logAround}?nodes=*&time=@5`])(
    '%s is left by a client that goes, and the members are not asked on',
    async (path) => {
      const cluster = new FakeCluster();
      cluster.found.push([], [clusterRecord(1)]);
      const { port, slots, cuts } = await serveCluster(cluster);
      const response = await openRequest(port, path);
      await new Promise((resolve) => response.once('data', resolve));
      response.destroy();
      await eventually(() => expect([cluster.found.closed, slots.taken]).toEqual([true, 0]));
      expect(cluster.found.signal?.aborted).toBe(true);
      await eventually(() => expect(cuts).toEqual(['client']));
    },
  );

  it('is closed at once for a HEAD request', async () => {
    const cluster = new FakeCluster();
    cluster.found.push([]);
    const { port } = await serveCluster(cluster);
    await sendRequest(port, SEARCH, { method: 'HEAD' });
    await eventually(() => expect(cluster.found.closed).toBe(true));
  });

  it('that breaks off does not look whole', async () => {
    const cluster = new FakeCluster();
    cluster.found.push([], [clusterRecord(1)], new Error('broken'));
    const { port, cuts } = await serveCluster(cluster);
    await expect(sendRequest(port, SEARCH)).rejects.toThrow();
    await eventually(() => expect(cuts).toEqual(['source']));
  });

  it.each(['record=c1', 'offset=5&file=a.log', 'until=c1', 'nodes=a%2Fb', 'role=a+b', 'limit=0'])(
    'with %s is refused before anyone is asked',
    async (query) => {
      const cluster = new FakeCluster();
      const { port } = await serveCluster(cluster);
      expect(await requestProblem(port, `${SEARCH}&${query}`)).toMatchObject({
        status: 400,
        code: 'PARAMETER_INVALID',
      });
      expect(cluster.calls).toEqual([]);
    },
  );
});

describe('a moment', () => {
  it('is around a record of a member, or a time', async () => {
    const cluster = new FakeCluster();
    cluster.found.push([], [clusterRecord(1), CLUSTER_END]).end();
    const { port } = await serveCluster(cluster);
    const { body } = await sendRequest(
      port,
      `${PATHS.logAround}?node=broker-1&cursor=c1&before=1m&role=broker&limit=7`,
    );
    expect(body.toString().trimEnd().split('\n')).toHaveLength(2);
    expect(cluster.last).toMatchObject({
      verb: 'around',
      request: {
        at: { node: 'broker-1', cursor: 'c1' },
        beforeMs: 60_000,
        afterMs: 5000,
        limit: 7,
        role: 'broker',
      },
    });
  });
});
