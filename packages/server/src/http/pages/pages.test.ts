import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_KINDS, MEMBER_ROUTE_IDS, memberRouteOf, ROUTE_IDS, routeOf } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import { ask } from '../../testing/ask.ts';
import { startTestNode, tempDir } from '../../testing/test-node.ts';
import { html } from './html.ts';

async function page(port: number, path = '/'): Promise<string> {
  return (await ask(port, path)).body.toString();
}

describe('the front page', () => {
  it('shows text of logs, names and configuration as text, never as markup', async () => {
    const evil = '<script>alert("1")</script>';
    const { port } = await startTestNode({
      files: { [`${evil.replace('/', '')}.log`]: `${evil}\n` },
      config: () => `text = '${evil}'`,
      settings: { node: { hostName: 'db-<b>1</b>' } },
    });
    const text = await page(port);
    expect(text).not.toMatch(/<script|<b>1/);
    expect(text.match(/&#60;script&#62;/g)?.length).toBeGreaterThanOrEqual(3);
    expect(text).toContain(`/api/v1/log/raw?file=${encodeURIComponent(`${evil.replace('/', '')}.log`)}`);
  });

  it('may run no script and be framed by no one', async () => {
    const { port } = await startTestNode();
    const { headers } = await ask(port, '/');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    });
  });

  it('shows what it can when the configuration is broken and the logs are gone', async () => {
    const configFile = join(tempDir(), 'service.toml');
    writeFileSync(configFile, 'a = 1\n');
    const { port, logDir } = await startTestNode({ files: { 'a.log': 'text' }, settings: { service: { configFile } } });
    writeFileSync(configFile, 'password = hunter2-unquoted');
    rmSync(logDir, { recursive: true });
    const { status, body } = await ask(port, '/');
    expect(status).toBe(200);
    expect(body.toString()).toMatch(/degraded.*holds no file yet.*not valid TOML/s);
    expect(body.toString()).not.toContain('hunter2');
  });
});

describe('the documentation page', () => {
  it('has every route and every error code', async () => {
    const { port } = await startTestNode();
    const text = await page(port, '/docs');
    for (const route of ROUTE_IDS.map(routeOf))
      if (!route.page) expect(text).toContain(`<code>GET ${route.path}</code>`);
    for (const { path } of MEMBER_ROUTE_IDS.map(memberRouteOf)) expect(text).toContain(`GET ${path}<`);
    for (const code of Object.keys(ERROR_KINDS)) expect(text).toContain(`id="${code}"`);
  });
});

describe('the html template', () => {
  it('escapes what is inserted, except markup of its own', () => {
    const inner = html`<b>${'<&>"\''}</b>`;
    expect(html`<p title="${'"'}">${inner}${[inner, 1]}${undefined}</p>`.toString()).toBe(
      '<p title="&#34;"><b>&#60;&#38;&#62;&#34;&#39;</b><b>&#60;&#38;&#62;&#34;&#39;</b>1</p>',
    );
  });
});
