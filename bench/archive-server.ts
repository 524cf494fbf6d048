import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchContext } from './context.ts';
import { freePort, startProgram } from './program.ts';

const START_MS = 60_000;

/** A ClickHouse server with its defaults but for ports, folders and memory; gives where it listens. */
export async function startArchiveServer(context: BenchContext): Promise<{ url: string; tcpPort: number }> {
  const dir = context.tempDir();
  const [http = 0, tcp = 0] = await Promise.all([freePort(), freePort()]);
  mkdirSync(join(dir, 'data'));
  const config =
    `<yandex><logger><level>warning</level><log>${dir}/server.log</log><errorlog>${dir}/errors.log</errorlog></logger>` +
    `<http_port>${http}</http_port><tcp_port>${tcp}</tcp_port><listen_host>127.0.0.1</listen_host>` +
    `<path>${dir}/data/</path><tmp_path>${dir}/data/tmp/</tmp_path><users_config>${dir}/users.xml</users_config>` +
    `<default_profile>default</default_profile><default_database>default</default_database>` +
    `<mark_cache_size>268435456</mark_cache_size></yandex>\n`;
  writeFileSync(join(dir, 'config.xml'), config);
  writeFileSync(
    join(dir, 'users.xml'),
    `<yandex><profiles><default></default></profiles><users><default><password></password><networks><ip>127.0.0.1</ip>` +
      `</networks><profile>default</profile><quota>default</quota></default></users><quotas><default></default></quotas></yandex>\n`,
  );
  context.recordFile('clickhouse.xml', config);
  const command = [context.peer('clickhouse-server'), `--config-file=${join(dir, 'config.xml')}`];
  context.recordCommand(command);
  const program = startProgram(command, context.cleanup);
  const url = `http://127.0.0.1:${http}`;
  for (const giveUpAt = performance.now() + START_MS; performance.now() < giveUpAt; await delay(50)) {
    const response = await fetch(`${url}/ping`).catch(() => undefined); // not yet listening
    await response?.body?.cancel();
    if (response?.ok) return { url, tcpPort: tcp };
  }
  throw new Error(`clickhouse-server does not start: ${program.output}`);
}
