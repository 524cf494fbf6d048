import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OtlpReceiver } from '@porthole/archive/testing';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { requestJson, sendRequest } from '../testing/send-request.ts';
import { startTestNode, startWithSharedThreads, testSettings } from '../testing/test-node.ts';

const LINE = '2026-11-15 05:00:00.000\tERROR\ta.go:1\t[A]: text\n';

interface Ready {
  status: string;
  checks: object[];
}

async function startReceiver(): Promise<OtlpReceiver> {
  const receiver = await OtlpReceiver.start();
  onTestFinished(() => receiver.stop());
  return receiver;
}

async function metricOf(port: number, name: string): Promise<string | undefined> {
  const { body } = await sendRequest(port, '/metrics');
  return body
    .toString()
    .split('\n')
    .find((line: string) => line.startsWith(`${name} `));
}

it('a node sends its records and its events, as what it is, and says how far it is', async () => {
  const receiver = await startReceiver();
  const headersFile = join(tempDir(), 'headers');
  writeFileSync(headersFile, 'Authorization: Bearer quite-long-token-of-ours\n');
  const { port, logDir } = await startTestNode({
    files: { 'a.log': LINE },
    settings: {
      ship: { otlp: receiver.url, otlpHeadersFile: headersFile, otlpIntervalMs: 100 },
      cluster: { name: 'shop', role: 'broker', nodeId: 'n-1' },
      node: { labels: ['zone=eu-1', 'rack=7'], hostName: 'host-1' },
    },
  });
  appendFileSync(join(logDir, 'a.log'), LINE.replace('text', 'used quite-long-token-of-ours here'));
  await eventually(() => expect(receiver.bodies).toContain('text'));
  await eventually(() => expect(receiver.bodies.some((body) => body.startsWith('used'))).toBe(true));
  await eventually(() => expect(receiver.records.some(({ eventName }) => eventName === 'porthole.started')).toBe(true));
  expect(receiver.invalid).toEqual([]);
  for (const { resource, headers, bytes } of receiver.taken) {
    expect(headers.authorization).toBe('Bearer quite-long-token-of-ours');
    expect(bytes.includes('quite-long-token-of-ours')).toBe(false);
    expect(resource).toEqual({
      'service.name': 'shop',
      'service.namespace': 'shop',
      'service.instance.id': 'n-1',
      'host.name': 'host-1',
      'porthole.role': 'broker',
      'cloud.availability_zone': 'eu-1',
      'porthole.label.rack': '7',
    });
  }
  const started = receiver.records.find(({ eventName }) => eventName === 'porthole.started');
  expect(started?.attributes).not.toHaveProperty('kind');
  expect(new Set(receiver.taken.map(({ scope }) => scope.name))).toEqual(new Set(['porthole', 'porthole.events']));
  await eventually(async () =>
    expect((await requestJson<Ready>(port, '/health/ready')).checks).toContainEqual({
      name: 'otlp',
      ok: true,
      detail: '0 s and 0 bytes behind',
    }),
  );
  expect(await metricOf(port, 'porthole_ship_up{sink="otlp"}')).toMatch(/ 1$/);
  expect(await metricOf(port, 'porthole_ship_refused_records_total{sink="otlp"}')).toMatch(/ 0$/);
  expect(await metricOf(port, 'porthole_archive_up')).toBeUndefined();
});

it('positions that cannot be written degrade the node, which starts, and sends once they can', async () => {
  const receiver = await startReceiver();
  const dir = tempDir();
  mkdirSync(join(dir, 'logs'));
  writeFileSync(join(dir, 'logs', 'a.log'), LINE);
  writeFileSync(join(dir, 'otlp'), 'in the way');
  const node = await startWithSharedThreads({
    settings: testSettings(dir, { ship: { otlp: receiver.url, otlpIntervalMs: 100 } }),
  });
  onTestFinished(() => node.stop());
  await eventually(async () => {
    const detail = expect.stringMatching(/^OTLP_POSITION: E/) as string;
    const { checks } = await requestJson<Ready>(node.node.httpPort, '/health/ready');
    expect(checks).toContainEqual({ name: 'otlp', ok: false, detail });
  });
  expect(receiver.bodies).toEqual([]);
  rmSync(join(dir, 'otlp'));
  await eventually(() => expect(receiver.bodies).toContain('text'));
  await eventually(async () =>
    expect((await requestJson<Ready>(node.node.httpPort, '/health/ready')).status).toBe('ready'),
  );
});

it('a receiver that is away degrades the node, and gets everything from the next run of it, once', async () => {
  const receiver = await startReceiver();
  await receiver.stop();
  const dir = tempDir();
  const start = () =>
    startWithSharedThreads({
      settings: testSettings(dir, { ship: { otlp: receiver.url, otlpEncoding: 'json', otlpIntervalMs: 100 } }),
    });
  mkdirSync(join(dir, 'logs'));
  writeFileSync(join(dir, 'logs', 'a.log'), LINE);
  const first = await start();
  await eventually(async () => {
    const { status, checks } = await requestJson<Ready>(first.node.httpPort, '/health/ready');
    expect(status).toBe('degraded');
    const detail = expect.stringMatching(/^OTLP_UNREACHABLE: cannot reach http:.* bytes behind$/) as string;
    expect(checks).toContainEqual({ name: 'otlp', ok: false, detail });
  });
  await first.stop();
  await receiver.listen();
  for (const _run of [1, 2]) {
    const node = await start();
    await eventually(async () =>
      expect(await metricOf(node.node.httpPort, 'porthole_ship_lag_bytes{sink="otlp"}')).toMatch(/ 0$/),
    );
    await node.stop();
  }
  expect(receiver.bodies.filter((body) => body === 'text')).toHaveLength(1);
  const ids = receiver.records.map(({ attributes }) => attributes['log.record.uid']);
  expect(new Set(ids).size).toBe(ids.length);
});
