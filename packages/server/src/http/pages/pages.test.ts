import { ERROR_KINDS, getMemberRoute, getRoute, MEMBER_ROUTE_IDS, ROUTE_IDS } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../../testing/send-request.ts';
import { shareTestNode } from '../../testing/test-node.ts';
import { html } from './docs-page.ts';

const node = shareTestNode();

describe('the documentation page', () => {
  it('has every route and every error code', async () => {
    const { port } = node;
    const text = (await sendRequest(port, '/docs')).body.toString();
    for (const route of ROUTE_IDS.map(getRoute))
      if (!route.page) expect(text).toContain(`<code>GET ${route.path}</code>`);
    for (const { path } of MEMBER_ROUTE_IDS.map(getMemberRoute)) expect(text).toContain(`GET ${path}<`);
    for (const code of Object.keys(ERROR_KINDS)) expect(text).toContain(`id="${code}"`);
  });
});

describe('the pages without a script', () => {
  it.each(['/docs', '/assets/porthole.css', '/api/v1/config', '/none'])(
    '%s may run none, and be framed by no one',
    async (path) => {
      const { port } = node;
      const { headers } = await sendRequest(port, path);
      expect(headers).toMatchObject({
        'content-security-policy':
          "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      });
    },
  );

  it('lead to the console', async () => {
    const { port } = node;
    expect((await sendRequest(port, '/docs')).body.toString()).toContain('<a href="/">Console</a>');
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
