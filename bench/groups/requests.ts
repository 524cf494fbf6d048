import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from '../context.ts';
import type { Group } from '../group.ts';
import { atMost, type Row } from '../group.ts';
import { startPorthole } from '../porthole.ts';
import { cpuSeconds } from '../process-usage.ts';
import { median, showNumber } from '../rounds.ts';
import { type Load, recordLoad, runWrk } from '../wrk.ts';

/** One at a time: with more, the node does for several requests what it does for one. */
const CONNECTIONS = 1;

/** What was written less than a minute ago is read again for each request; most of a service's files are older. */
const AT_REST_MS = 61_000;

const LINE = '2026-11-15 05:00:00.000\tINFO\ta.go:1\tline of a log\n';

interface Request {
  figure: string;
  files: number;
  path: string;
  /** What the handler of LinDB's own nodes, in Go, takes for the same. */
  mostUs: number;
}

const REQUESTS: readonly Request[] = [
  { figure: "a service's configuration", files: 10, path: 'config', mostUs: 135 },
  { figure: 'list of 10 files', files: 10, path: 'log/list', mostUs: 91 },
  { figure: 'list of 1,000 files', files: 1000, path: 'log/list', mostUs: 3816 },
  { figure: 'view of 4 KiB', files: 10, path: 'log/view?file=service-1.log&size=4096', mostUs: 92 },
];

/** What a request costs the node, whatever else the machine does. */
export const requestsGroup: Group = {
  name: 'requests',
  needs: ['wrk'],
  async run(context) {
    const rows: Row[] = [];
    for (const request of REQUESTS) rows.push(await costRow(context, request));
    return rows;
  },
};

async function costRow(context: BenchContext, { figure, files, path, mostUs }: Request): Promise<Row> {
  context.log(`  processor time of ${figure}`);
  const { roundSeconds, rounds, warmUpSeconds } = context.effort;
  const service = ensureService(context, files);
  const restsMs = AT_REST_MS - (Date.now() - statSync(service.config).ctimeMs);
  if (restsMs > 0) await new Promise((resolve) => setTimeout(resolve, restsMs));
  // Without events, which would read all logs meanwhile.
  const flags = ['--service-config', service.config, '--events-logs', 'off'];
  const { url, pid, stop } = await startPorthole(context, service.logs, flags);
  const load: Load = { url: `${url}/api/v1/${path}`, connections: CONNECTIONS };
  recordLoad(context, load);
  await runWrk(context, load, warmUpSeconds);
  const costs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const [before, startedAt] = [cpuSeconds(pid), performance.now()];
    const { requestsPerSecond } = await runWrk(context, load, roundSeconds);
    const requests = (requestsPerSecond * (performance.now() - startedAt)) / 1000;
    costs.push(((cpuSeconds(pid) - before) / requests) * 1e6);
  }
  await stop();
  const us = median(costs);
  return {
    figure: `${figure}: processor time of a request, us`,
    porthole: showNumber(us),
    bar: atMost(us, mostUs),
    rounds: costs.map(showNumber).join(', '),
  };
}

/** Kept for the next run. */
function ensureService(context: BenchContext, files: number): { logs: string; config: string } {
  const dir = context.dataDir(`service-${files}`);
  const [logs, config] = [join(dir, 'log'), join(dir, 'broker.toml')];
  if (existsSync(config)) return { logs, config };
  mkdirSync(logs, { recursive: true });
  for (let number = 0; number < files; number++) writeFileSync(join(logs, `service-${number}.log`), LINE.repeat(100));
  const section = (number: number) => `\n[section${number}]\nport = ${9000 + number}\nname = "value ${number}"\n`;
  writeFileSync(config, Array.from({ length: 12 }, (_, number) => section(number)).join(''));
  return { logs, config };
}
