import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createNode } from '../create-node.ts';
import { testSettings } from '../testing/test-node.ts';
import { type ConfigOption, mark } from './mark.ts';

async function embed(config: ConfigOption, settings = {}) {
  const node = await createNode({
    config,
    settings: testSettings(tempDir(), { service: { logDir: '' }, ...settings }),
  });
  onTestFinished(() => node.close());
  const get = (path: string) => node.fetch(new Request(`http://localhost/api/v1/${path}`), { address: '127.0.0.1' });
  return { node, get };
}

describe('a configuration that a program gives as an object', () => {
  it('is not marked by misspelt marks: a secret would be shown', () => {
    expect(() => mark('hunter2', { secert: true } as never)).toThrow('did you mean "secret"?');
    expect(() => mark('hunter2', { secret: 'yes' } as never)).toThrow('expected boolean, found string');
  });

  it('is shown as TOML and by key, with its sources and without its secrets', async () => {
    const { node } = await embed({
      title: 'shop',
      database: { url: 'postgres://shop:hunter2@db/orders', pool: mark(5, { source: 'env' }), tls: undefined },
      partner: mark({ code: 'open-sesame', region: 'eu' }, { secret: true, source: 'file' }),
      servers: [
        { host: 'a', pin: mark('1234567', { secret: true }) },
        { host: 'b', pin: '7654321' },
      ],
      started: new Date(0),
      endpoint: new URL('https://example.org/x'),
      tags: new Set(['a', null]),
      retry: () => {},
    });
    const { config } = await node.state.config();
    expect(config).toContain('title = "shop"');
    expect(config).toContain('started = 1970-01-01T00:00:00.000Z');
    for (const secret of ['hunter2', 'open-sesame', '1234567', '7654321']) expect(config).not.toContain(secret);
    const { settings } = await node.state.settings();
    expect(
      Object.fromEntries(settings.map(({ key, value, source, secret }) => [key, { value, source, secret }])),
    ).toEqual({
      title: { value: 'shop', source: 'option', secret: false },
      'database.url': { value: 'postgres://shop:******@db/orders', source: 'option', secret: false },
      'database.pool': { value: 5, source: 'env', secret: false },
      'partner.code': { value: '******', source: 'file', secret: true },
      'partner.region': { value: '******', source: 'file', secret: true },
      'servers[0].host': { value: 'a', source: 'option', secret: false },
      'servers[0].pin': { value: '******', source: 'option', secret: true },
      'servers[1].host': { value: 'b', source: 'option', secret: false },
      'servers[1].pin': { value: '******', source: 'option', secret: true },
      started: { value: '1970-01-01T00:00:00.000Z', source: 'option', secret: false },
      endpoint: { value: 'https://example.org/x', source: 'option', secret: false },
      tags: { value: ['a', 'null'], source: 'option', secret: false },
      retry: { value: '[function]', source: 'option', secret: false },
    });
  });

  it('is asked for again whenever it is needed, and its secrets are masked in log text', async () => {
    const values = { workers: 1, pass: 'correct-horse-battery' };
    const { node, get } = await embed(async () => ({
      workers: values.workers,
      x: mark(values.pass, { secret: true }),
    }));
    expect((await node.state.config()).config).toContain('workers = 1');
    values.workers = 2;
    expect((await node.state.config()).config).toContain('workers = 2');
    node.logger('a').info('b', `it is ${values.pass}`);
    const found = await (await get('log/search?q=it+is')).text();
    expect(found).not.toContain(values.pass);
  });

  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const thrower = {
    get broken() {
      throw new Error('hunter2');
    },
  };
  it.each([
    [
      'a function that throws',
      () => {
        throw new Error('hunter2');
      },
      'the function threw Error',
    ],
    ['a promise that is rejected', () => Promise.reject(new TypeError('hunter2')), 'the function threw TypeError'],
    ['nothing', () => undefined, 'expected an object or TOML text, found undefined'],
    ['a number', () => 5, 'expected an object or TOML text, found number'],
    [
      'text that is not TOML',
      () => 'a = hunter2 = 1',
      'the configuration text cannot be shown: not valid TOML (line 1, ',
    ],
    ['an object that contains itself', () => circle, 'contains itself'],
    ['a getter that throws', thrower, 'broken cannot be shown: reading it threw an error'],
    ['too much', () => ({ text: 'a'.repeat(2000) }), 'it is larger than 1024 bytes'],
  ])('is reported as unavailable if it is %s', async (_, config, detail) => {
    const { get } = await embed(config as unknown as ConfigOption, { config: { maxBytes: 1024 } });
    for (const path of ['config', 'config/settings']) {
      const response = await get(path);
      const problem = (await response.json()) as { code: string; detail: string };
      expect({ status: response.status, code: problem.code }).toEqual({ status: 503, code: 'CONFIG_UNAVAILABLE' });
      expect(problem.detail).toContain(detail);
      expect(problem.detail).not.toContain('hunter2');
    }
    expect((await get('node')).status).toBe(200);
  });
});
