import {
  COMMON_ERRORS,
  ERROR_KINDS,
  type ErrorCode,
  getMemberRoute,
  getRoute,
  MEMBER_ROUTE_IDS,
  ROUTE_IDS,
  type Route,
} from '@porthole/contract';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';

/** The API as a page, from the same tables as the OpenAPI document. */
export function docsPage({ version }: { version: string }): string {
  const routes = ROUTE_IDS.map(getRoute).filter(({ page }) => !page);
  return layout(
    'API · Porthole',
    html`<h1>Node state interface <small>${version}</small></h1>
<p class="sub">Read-only: every route supports GET and HEAD. Unknown parameters are ignored. Machine-readable: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1). Every route can also return ${links(COMMON_ERRORS)}.</p>
${routes.map(routeSection)}
${memberSection()}
<h2 id="errors">Errors</h2>
<p>Every error is an <code>application/problem+json</code> document (RFC 9457) with <code>type, title, status, detail, code</code>; a client that accepts only <code>text/plain</code> gets the detail as text. Codes are a closed list.</p>
<div class="card"><table><thead><tr><th>Code</th><th class="num">Status</th><th>Meaning</th><th>Retryable</th></tr></thead>
<tbody>${(Object.keys(ERROR_KINDS) as ErrorCode[]).map(errorRow)}</tbody></table></div>`,
  );
}

function routeSection({ path, summary, description, parameters, response, errors, role }: Route): Html {
  const rows = parameters.map(
    ({ name, in: location, required, repeated, type, description: about }) =>
      html`<tr><td class="mono">${name}</td><td>${location}</td><td>${type}</td><td>${required ? 'required' : repeated ? 'repeatable' : 'optional'}</td><td>${prose(about)}</td></tr>`,
  );
  const example = parameters.length === 0 ? html` · <a href="${path}">open</a>` : html``;
  return html`<section><h2>${summary}</h2><p><code>GET ${path}</code>${example}</p><p>${prose(description)}</p>
${rows.length > 0 ? html`<div class="card"><table><thead><tr><th>Parameter</th><th>In</th><th>Type</th><th></th><th>Meaning</th></tr></thead><tbody>${rows}</tbody></table></div>` : undefined}
<p class="sub">Returns <code>${response.contentType}</code>. ${needed(role)} ${errors.length > 0 ? html`Errors: ${links(errors)}.` : undefined}</p></section>`;
}

function needed(role: Route['role']): Html {
  if (role === 'none') return html`Requires no credentials.`;
  return role === 'any'
    ? html`Requires credentials (any role) if they are configured.`
    : html`Requires the role <code>${role}</code>.`;
}

/** Member routes have the parameters and responses of the node routes above. */
function memberSection(): Html {
  const rows = MEMBER_ROUTE_IDS.map((id) => {
    const { path, summary } = getMemberRoute(id);
    return html`<tr><td class="mono">GET ${path}</td><td>${summary}</td></tr>`;
  });
  return html`<section><h2>One member of the cluster</h2><p>The routes of any member, through this node: the same parameters and responses.</p>
<div class="card"><table><tbody>${rows}</tbody></table></div></section>`;
}

function links(codes: readonly ErrorCode[]): Html[] {
  return codes.map((code, index) => html`${index > 0 ? ', ' : ''}<a href="#${code}">${code}</a>`);
}

function errorRow(code: ErrorCode): Html {
  const { http, title, retryable } = ERROR_KINDS[code];
  return html`<tr id="${code}"><td class="mono">${code}</td><td class="num">${http}</td><td>${title}</td><td>${retryable ? 'yes' : 'no'}</td></tr>`;
}

/** Descriptions mark code with backticks. */
function prose(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
