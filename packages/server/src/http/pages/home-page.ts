import type { NodeDescription } from '@porthole/contract';
import type { LogFileDetails } from '@porthole/logs';
import type { Readiness } from '../../health.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';

export interface HomeFacts {
  description: NodeDescription;
  readiness: Readiness;
  /** `undefined` parts could not be had; `problem` says why. */
  files: LogFileDetails[] | { problem: string };
  config: string | { problem: string };
  newest: { file: string; text: string } | undefined;
}

/** Everything about one node on one page, without a script: who it is, how it is, what it says, what it is told to do. */
export function homePage(facts: HomeFacts): string {
  const { description } = facts;
  const { node } = description;
  const title = `${node.hostName} · Porthole`;
  return layout(
    title,
    html`<h1>${node.hostName} <small>${node.hostIp}:${node.httpPort}</small></h1>
<p class="sub">${description.observes === 'service' ? 'Shows the service beside it.' : 'Shows its own configuration and logs.'}
Version ${node.version} · up since ${iso(node.onlineTime)} · gRPC on port ${node.grpcPort} · log time zone ${description.timeZone}</p>
${healthSection(facts.readiness)}
${filesSection(facts.files)}
${newestSection(facts.newest)}
${configSection(facts.config)}`,
  );
}

function healthSection({ status, checks }: Readiness): Html {
  const rows = checks.map(
    ({ name, ok, detail }) =>
      html`<tr><th scope="row">${name}</th><td class="${ok ? 'ok' : 'err'}">${ok ? 'ok' : 'not ok'}</td><td>${detail}</td></tr>`,
  );
  return html`<section><h2>Health: <span class="${status === 'ready' ? 'ok' : 'err'}">${status}</span></h2><div class="card"><table>${rows}</table></div></section>`;
}

function filesSection(files: HomeFacts['files']): Html {
  if ('problem' in files) return html`<section><h2>Log files</h2><p class="err">${files.problem}</p></section>`;
  if (files.length === 0) return html`<section><h2>Log files</h2><p>The log directory holds no file yet.</p></section>`;
  return html`<section><h2>${files.length} log ${files.length === 1 ? 'file' : 'files'}</h2><div class="card"><table>
<thead><tr><th>File</th><th class="num">Size</th><th>Format</th><th>First record</th><th>Last record</th><th>Links</th></tr></thead>
<tbody>${files.map(fileRow)}</tbody></table></div></section>`;
}

function fileRow({ name, size, format, firstTimeMs, lastTimeMs, problem }: LogFileDetails): Html {
  const query = `file=${encodeURIComponent(name)}`;
  return html`<tr><td class="mono">${name}</td><td class="num">${bytes(size)}</td><td>${problem ?? format}</td>
<td>${time(firstTimeMs)}</td><td>${time(lastTimeMs)}</td>
<td><a href="/api/v1/log/view?${query}&amp;size=65536">last 64 KiB</a> · <a href="/api/v1/log/view?${query}">last 1 MiB</a> · <a href="/api/v1/log/raw?${query}">download</a></td></tr>`;
}

function newestSection(newest: HomeFacts['newest']): Html {
  if (!newest) return html``;
  return html`<section><h2>Newest lines of <span class="mono">${newest.file}</span></h2><pre class="card" tabindex="0">${newest.text}</pre></section>`;
}

function configSection(config: HomeFacts['config']): Html {
  const links = html`<p class="sub"><a href="/api/v1/config">as JSON</a> · <a href="/api/v1/config/settings">each key with default and source</a></p>`;
  if (typeof config !== 'string')
    return html`<section><h2>Configuration</h2><p class="err">${config.problem}</p></section>`;
  return html`<section><h2>Configuration</h2>${links}<pre class="card" tabindex="0">${config}</pre></section>`;
}

function time(timeMs: number | null): string {
  return timeMs === null ? '–' : iso(timeMs);
}

function iso(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function bytes(size: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = size;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
