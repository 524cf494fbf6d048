import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from './context.ts';
import { freePort, type Program, startProgram } from './program.ts';

/** Another program may take the port between our look and nginx's bind. */
const PORT_TRIES = 3;

const READY_POLL_MS = 20;
const READY_MS = 5_000;

export interface NginxSite {
  /** Served at /files/ and, as a JSON listing, at /list/. */
  dir: string;
  /** Served at /body.json from a file. */
  jsonBody: string;
}

/** One worker, everything in a folder of its own. Gives the base URL, without a slash at the end. */
export async function startNginx(context: BenchContext, site: NginxSite): Promise<string> {
  const prefix = context.tempDir();
  const configFile = join(prefix, 'nginx.conf');
  writeFileSync(join(prefix, 'body.json'), site.jsonBody);
  const command = [context.peer('nginx'), '-p', prefix, '-c', configFile, '-e', join(prefix, 'error.log')];
  context.recordCommand(command);
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    const config = nginxConfig(site.dir, { prefix, port });
    writeFileSync(configFile, config);
    context.recordFile('nginx.conf', config);
    const program = startProgram(command, context.cleanup);
    const url = `http://127.0.0.1:${port}`;
    if (await isResponding(`${url}/body.json`, program)) return url;
    await program.stop();
    if (tries === PORT_TRIES) throw new Error(`nginx does not start: ${program.output}`);
  }
}

/** As a careful operator would set it up to serve files fast; `types` is empty so that nothing is looked up. */
function nginxConfig(dir: string, { prefix, port }: { prefix: string; port: number }): string {
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `${process.getuid?.() === 0 ? 'user root;\n' : ''}worker_processes 1;
daemon off;
pid ${prefix}/nginx.pid;
error_log stderr;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  types { }
  default_type text/plain;
${temp.map((name) => `  ${name}_temp_path ${prefix}/${name};`).join('\n')}
  server {
    listen 127.0.0.1:${port};
    location /files/ { alias ${dir}/; }
    location /list/ { alias ${dir}/; autoindex on; autoindex_format json; }
    location = /body.json { alias ${prefix}/body.json; default_type application/json; }
  }
}
`;
}

/** Whether it gives its first answer; false when the program ends or takes too long. */
async function isResponding(url: string, { exited }: Program): Promise<boolean> {
  let ended = false;
  const onEnd = () => {
    ended = true;
  };
  exited.then(onEnd, onEnd);
  for (const until = Date.now() + READY_MS; !ended && Date.now() < until; ) {
    const response = await fetch(url).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok && !ended) return true;
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
  return false;
}
