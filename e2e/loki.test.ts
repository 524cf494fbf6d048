import { createRequire } from 'node:module';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { startNode } from '@porthole/server';
import { expect, it, onTestFinished } from 'vitest';
import { installTools, LOKI_CLIENT } from './testing/install-tools.ts';

/** What the test uses of a client for Loki that somebody else has written. */
interface LokiClient {
  Loki: {
    labels(): Promise<string[]>;
    labelValues(label: string): Promise<string[]>;
    series(...selectors: string[]): Promise<Record<string, string>[]>;
    queryRange(query: string, options?: object): Promise<{ logs: string[] }>;
    queryRangeStream(query: string, options?: object): Promise<{ streams: { labels: object; values: string[][] }[] }>;
    queryRangeMatrix(query: string, options?: object): Promise<{ metrics: { labels: object; values: string[][] }[] }>;
  };
}

it("a client for Loki reads a node's own log", async () => {
  const dir = tempDir();
  const node = await startNode({
    settings: {
      http: { port: 0 },
      grpc: { port: 0 },
      logging: { dir: join(dir, 'log') },
      node: { timeZone: 'UTC', labels: ['zone=eu-1'] },
      loki: { enabled: true },
    },
  });
  onTestFinished(() => node.stop());
  for (let attempt = 0; attempt < 5; attempt++) node.logger('orders').warn('pay', 'a card was refused', { attempt });
  const modules = await installTools(LOKI_CLIENT);
  const { GrafanaApi } = createRequire(join(modules, 'x.js'))('@myunisoft/loki') as {
    GrafanaApi: new (options: object) => LokiClient;
  };
  const { Loki } = new GrafanaApi({ remoteApiURL: `http://127.0.0.1:${node.node.httpPort}/` });

  expect(await Loki.labels()).toEqual(['cluster', 'level', 'log', 'node', 'role', 'zone']);
  expect(await Loki.labelValues('log')).toContain('porthole.log');
  expect(await Loki.series('{zone="eu-1"}')).toContainEqual(expect.objectContaining({ log: 'porthole.log' }));
  await eventually(async () =>
    expect((await Loki.queryRange('{log="porthole.log"} |= "a card"')).logs).toHaveLength(5),
  );
  const { streams } = await Loki.queryRangeStream('{level="warn"} | json | attempt>=3', { start: '1h' });
  expect(streams.flatMap(({ values }) => values.map(([, line]) => line))).toEqual([
    expect.stringContaining('"attempt":4'),
    expect.stringContaining('"attempt":3'),
  ]);
  const range = { start: Math.floor(Date.now() / 1000) - 600, end: Math.floor(Date.now() / 1000) + 60, step: '60s' };
  const { metrics } = await Loki.queryRangeMatrix(
    'sum by (level) (count_over_time({log="porthole.log"} |= "a card" [30m]))',
    range,
  );
  expect(metrics).toMatchObject([{ labels: { level: 'warn' } }]);
  expect(metrics[0]?.values.at(-1)?.[1]).toBe('5');
});
