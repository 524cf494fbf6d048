import {
  COMMON_ERRORS,
  describeParameter,
  ERROR_KINDS,
  type ErrorCode,
  getMemberRoute,
  getRoute,
  MEMBER_ROUTE_IDS,
  ROUTE_IDS,
  type Route,
} from '@porthole/contract';

export { buildOpenApi as openApi } from '@porthole/contract';

/** The API as a page, from the same tables as the OpenAPI document. Links are below the base path. */
export function docsPage({ version, basePath = '' }: { version: string; basePath?: string }): string {
  const routes = ROUTE_IDS.map(getRoute).filter(({ page }) => !page);
  return layout(
    { title: 'API · Porthole', basePath },
    html`<h1>Node state interface <small>${version}</small></h1>
<p class="sub">Read-only: every route supports GET and HEAD. Unknown parameters are ignored. Machine-readable: <a href="${basePath}/openapi.json">openapi.json</a> (OpenAPI 3.1). Every route can also return ${links(COMMON_ERRORS)}.</p>
${routes.map((route) => routeSection(route, basePath))}
${memberSection()}
<h2 id="errors">Errors</h2>
<p>Every error is an <code>application/problem+json</code> document (RFC 9457) with <code>type, title, status, detail, code</code>; a client that accepts only <code>text/plain</code> gets the detail as text. Codes are a closed list.</p>
<div class="card"><table><thead><tr><th>Code</th><th class="num">Status</th><th>Meaning</th><th>Retryable</th></tr></thead>
<tbody>${(Object.keys(ERROR_KINDS) as ErrorCode[]).map(errorRow)}</tbody></table></div>`,
  );
}

function routeSection(
  { path, summary, description, parameters, response, errors, role }: Route,
  basePath: string,
): Html {
  const rows = parameters.map((row) => {
    const { name, in: location = 'query', required, codec } = row;
    const { type, repeated } = codec.schema;
    return html`<tr><td class="mono">${name}</td><td>${location}</td><td>${type}</td><td>${required ? 'required' : repeated ? 'repeatable' : 'optional'}</td><td>${prose(describeParameter(row))}</td></tr>`;
  });
  const example = parameters.length === 0 ? html` · <a href="${basePath}${path}">open</a>` : html``;
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

const PAGE_LINKS = [
  ['/', 'Console'],
  ['/docs', 'API'],
  ['/openapi.json', 'OpenAPI'],
  ['/metrics', 'Metrics'],
  ['/health/ready', 'Health'],
] as const;

/** The frame of every page. */
function layout({ title, basePath }: { title: string; basePath: string }, content: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${basePath}/assets/porthole.svg" type="image/svg+xml">
<link rel="stylesheet" href="${basePath}/assets/porthole.css">
</head>
<body>
<header>
<img src="${basePath}/assets/porthole.svg" alt="" width="22" height="22"><b>Porthole</b>
<nav aria-label="Pages">${PAGE_LINKS.map(([path, name]) => html`<a href="${basePath}${path}">${name}</a>`)}</nav>
</header>
<main>${content}</main>
</body>
</html>
`.toString();
}

/** Safe markup. Only `html` creates it, so text never becomes markup by accident. */
class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

type Part = string | number | Html | readonly Part[] | undefined;

/** A template that escapes interpolated text, but not interpolated `Html` or lists of it. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  const pieces = strings.map((string, index) => (index === 0 ? string : render(parts[index - 1]) + string));
  return new Html(pieces.join(''));
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.toString();
  if (typeof part === 'object') return part.map(render).join('');
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The style of the pages: light or dark as the system. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#fbfbfa;--panel:#fff;--line:#e4e4e1;--ink:#1c1d1f;--dim:#5f6268;--accent:#1d4ed8}
@media (prefers-color-scheme:dark){:root{--bg:#131417;--panel:#1a1c20;--line:#2a2d33;--ink:#e3e5e8;--dim:#a3a9b2;--accent:#8fb4ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:14px/1.5 system-ui,"DejaVu Sans",sans-serif}
header{display:flex;flex-wrap:wrap;align-items:center;gap:6px 12px;padding:9px 18px;border-bottom:1px solid var(--line);background:var(--panel)}
nav{display:flex;flex-wrap:wrap;gap:4px 16px;margin-left:8px}
a{color:var(--accent)}
main{padding:18px;max-width:1200px;margin:0 auto}
h1{font-size:22px;margin:4px 0}h2{font-size:15px;margin:26px 0 8px}
small,.sub{color:var(--dim);font-weight:400}small{font-size:14px}
.card{background:var(--panel);border:1px solid var(--line);border-radius:9px;overflow:auto}
table{border-collapse:collapse;width:100%}th,td{padding:7px 11px;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
tr:last-child>*{border-bottom:0}thead th{color:var(--dim);font-size:12px}.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code,.mono{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12.5px}
tr:target>*{background:color-mix(in srgb,var(--accent) 14%,transparent)}
`.trimStart();

export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="13" fill="#dbe6fd" stroke="#2563eb" stroke-width="5"/><path d="M6 18q5-4 10 0t10 0v3a11 11 0 0 1-20 0z" fill="#2563eb" opacity=".45"/></svg>';
