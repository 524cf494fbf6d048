import './style/main.css';

/* Small, so that it runs before the other scripts are there: it lets the browser load those of the page beside them. */

/** Pages by their path; others are loaded without this. */
const SCRIPTS: readonly [path: RegExp, name: string][] = [
  [/^\/$/, 'overview-page'],
  [/^\/incidents/, 'incidents-page'],
  [/^\/logs/, 'logs-page'],
  [/^\/config/, 'config-page'],
  [/^\/nodes\/./, 'node-page'],
  [/^\/nodes/, 'nodes-page'],
];

loadBeside();

void import('./start.tsx');

/** The build lists the scripts of each page: `logs-page part-A.js part-B.js;members part-C.js`. */
function loadBeside(): void {
  const content = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
  const path = location.pathname.slice(content('porthole-base').length);
  const [, wanted] = SCRIPTS.find(([page]) => page.test(path)) ?? [];
  const parts = content('porthole-parts')
    .split(';')
    .map((list) => list.split(' '))
    .find(([name]) => name === wanted);
  for (const part of parts?.slice(1) ?? []) {
    const link = document.createElement('link');
    link.rel = 'modulepreload';
    link.href = new URL(part, import.meta.url).href;
    document.head.append(link);
  }
}
