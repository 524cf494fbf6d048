import { type Html, html } from './html.ts';

/** The frame of every page. */
export function layout(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/assets/porthole.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/porthole.css">
</head>
<body>
<header>
<img src="/assets/porthole.svg" alt="" width="22" height="22"><b>Porthole</b>
<nav aria-label="Pages"><a href="/">Console</a><a href="/docs">API</a><a href="/openapi.json">OpenAPI</a><a href="/metrics">Metrics</a><a href="/health/ready">Health</a></nav>
</header>
<main>${content}</main>
</body>
</html>
`.toString();
}
