import { execFile, execFileSync, spawn } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { sendRequest, startTestNode } from '@porthole/server/testing';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensurePrograms } from '../scripts/programs.mjs';

const execute = promisify(execFile);

const DEPLOY = join(import.meta.dirname, '../deploy');
const RULES = join(DEPLOY, 'prometheus/porthole-alerts.yml');

const rules = readFileSync(RULES, 'utf8');
const alerts = [...rules.matchAll(/^ *- alert: (\w+)$/gm)].map(([, name = '']) => name);

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
  annotations: { list: { expr: string }[] };
}

const dashboard = JSON.parse(readFileSync(join(DEPLOY, 'grafana/porthole-nodes.json'), 'utf8')) as Dashboard;

/** As Grafana fills in its variables. */
const dashboardQueries = [
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...dashboard.annotations.list.map(({ expr }) => expr),
].map((expr) => expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$(job|instance)/g, '.+'));

beforeAll(() => {
  ensurePrograms(['prometheus', 'promtool']);
});

/** Two nodes that know each other, whose logs are counted. */
async function startNodes() {
  const member = await startTestNode({ files: { 'm.log': '' }, settings: { cluster: { nodeId: 'm' } } });
  const cluster = { nodeId: 'self', members: [`m=http://127.0.0.1:${member.port}`], refreshMs: 500 };
  const node = await startTestNode({
    files: { 'a.log': '', 'odd "name.log': '' },
    // Nobody listens there: what there is about shipping is measured all the same.
    settings: { cluster, events: { logs: true }, node: { timeZone: 'UTC' }, ship: { otlp: 'http://127.0.0.1:1' } },
  });
  return { node, member };
}

const stamp = () => new Date().toISOString().replace('T', ' ').replace('Z', '');

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A Prometheus that scrapes these ports and evaluates the rules every second. */
async function startPrometheus(ports: readonly number[]): Promise<string> {
  const dir = tempDir();
  const targets = ports.map((port) => `127.0.0.1:${port}`);
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [RULES],
    scrape_configs: [{ job_name: 'porthole', static_configs: [{ targets }] }],
  };
  writeFileSync(join(dir, 'prometheus.yml'), JSON.stringify(config));
  const port = await freePort();
  const args = [`--config.file=${join(dir, 'prometheus.yml')}`, `--storage.tsdb.path=${join(dir, 'data')}`];
  const child = spawn('prometheus', [...args, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' });
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        child.once('exit', () => resolve());
        child.kill();
      }),
  );
  return `http://127.0.0.1:${port}`;
}

interface RuleHealth {
  name: string;
  health: string;
  lastError?: string;
}

describe('the metrics of a node', () => {
  it('are as promtool wants them, and those that the alerts and the dashboard ask for', async () => {
    const { node, member } = await startNodes();
    const write = (level: string) => {
      for (const file of ['a.log', 'odd "name.log'])
        appendFileSync(join(node.logDir, file), `${stamp()}\t${level}\tx.go:1\t[A]: line\n`);
    };
    await eventually(async () => {
      write('ERROR');
      const text = (await sendRequest(node.port, '/metrics')).body.toString();
      expect(text).toMatch(/^porthole_log_records_total\{log="odd \\"name.log",level="error"\} [1-9]/m);
    });
    const { body } = await sendRequest(node.port, '/metrics');
    expect(execFileSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' })).toBe('');

    const url = await startPrometheus([node.port, member.port]);
    const query = async (expr: string) => {
      const { stdout } = await execute('promtool', ['query', 'instant', '-o', 'json', url, expr]);
      return JSON.parse(stdout) as { metric: Record<string, string>; value: [number, string] }[];
    };
    await eventually(async () => {
      write('ERROR');
      expect(await query('up == 1')).toHaveLength(2);
      expect(await query('rate(porthole_log_records_total{level="error"}[1m]) > 0')).toHaveLength(2);
    });
    for (const expr of dashboardQueries) expect(Array.isArray(await query(expr)), expr).toBe(true);
    const names = [rules, ...dashboardQueries].join(' ').match(/\bporthole_\w+/g) ?? [];
    // Each is there, at least with its type: some have no series without TLS or an archive.
    const known = new Set([...body.toString().matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    const absent = new Set(names.map((name) => name.replace(/_bucket$/, '')).filter((name) => !known.has(name)));
    expect([...absent].filter((name) => !name.startsWith('porthole_archive_'))).toEqual([]);
    const { data } = (await (await fetch(`${url}/api/v1/rules`)).json()) as {
      data: { groups: { rules: RuleHealth[] }[] };
    };
    const health = data.groups.flatMap((group) => group.rules);
    expect(health.filter((rule) => rule.health !== 'ok')).toEqual([]);
    expect(health).toHaveLength(alerts.length);
  });
});

/** Series by minute, and the alerts that fire at a minute. */
type Case = [alert: string, series: Record<string, string>, firing: number, quiet: number];

const NODE = 'job="porthole",instance="a"';
const ERRORS = `porthole_log_records_total{${NODE},log="a.log",level="error"}`;

const CASES: Case[] = [
  ['PortholeNodeDown', { [`up{${NODE}}`]: '1x10 0x10' }, 15, 10],
  ['PortholeMemberGone', { [`porthole_member_up{${NODE},member="m"}`]: '1x10 0x10' }, 15, 10],
  ['PortholeMembersSilent', { [`porthole_silent_members{${NODE}}`]: '0x10 2x10' }, 18, 10],
  ['PortholeDuplicateId', { [`porthole_duplicate_id{${NODE}}`]: '0x10 1x10' }, 12, 10],
  ['PortholeCredentialFile', { [`porthole_credential_files_failing{${NODE}}`]: '0x10 1x10' }, 12, 10],
  ['PortholeRegistryDown', { [`porthole_cluster_membership_fresh{${NODE}}`]: '1x10 0x10' }, 18, 10],
  ['PortholeErrorBurst', { [ERRORS]: '0+0x20 20+20x5' }, 24, 15],
  ['PortholeErrorBurst', { [ERRORS]: '_x10 50+0x10' }, 12, 9],
  ['PortholeLogSilent', { [ERRORS.replace('error', 'info')]: '0+60x60 3600+0x30' }, 80, 60],
  ['PortholeConfigDrift', { [`porthole_config_drift_keys{${NODE}}`]: '0x10 2x30' }, 30, 15],
  ['PortholeClockOffset', { [`porthole_member_clock_offset_seconds{${NODE},member="m"}`]: '0x10 -3x30' }, 30, 15],
  [
    'PortholeCertificateExpires',
    { [`porthole_certificate_expiry_seconds{${NODE},certificate="server"}`]: '2000000x10 1000000x10' },
    12,
    5,
  ],
  [
    'PortholeCertificateExpires',
    { [`porthole_certificate_expiry_seconds{${NODE},certificate="server"}`]: '2000000x10 NaN NaN NaN' },
    12,
    5,
  ],
  [
    'PortholeRecorderBehind',
    {
      [`porthole_recorded_age_seconds{${NODE},member="m"}`]: '2x10 90x30',
      [`porthole_member_up{${NODE},member="m"}`]: '1x40',
    },
    20,
    10,
  ],
  ['PortholeArchiveBehind', { [`porthole_archive_lag_seconds{${NODE}}`]: '5x10 900x30' }, 20, 10],
  ['PortholeArchiveBehind', { [`porthole_archive_up{${NODE}}`]: '1x10 0x30' }, 20, 10],
  ['PortholeArchiveLost', { [`porthole_archive_lost_bytes_total{${NODE}}`]: '0x10 500x10' }, 12, 10],
  ['PortholeShippingBehind', { [`porthole_ship_lag_seconds{${NODE},sink="otlp"}`]: '5x10 900x30' }, 20, 10],
  ['PortholeShippingBehind', { [`porthole_ship_up{${NODE},sink="otlp"}`]: '1x10 0x30' }, 20, 10],
  ['PortholeShippingRefused', { [`porthole_ship_refused_records_total{${NODE},sink="otlp"}`]: '0x10 5x10' }, 12, 10],
  ['PortholeShippingRefused', { [`porthole_ship_lost_bytes_total{${NODE},sink="otlp"}`]: '0x10 5x10' }, 12, 10],
  ['PortholeFaults', { [`porthole_request_faults_total{${NODE},transport="http"}`]: '0x10 1x10' }, 12, 10],
  ['PortholeSevereEvent', { [`porthole_events_total{${NODE},kind="disk-nearly-full"}`]: '0x10 1x10' }, 12, 10],
  [
    'PortholeSevereEvent',
    {
      [`porthole_events_total{${NODE},kind="killed"}`]: '1x40',
      [`process_start_time_seconds{${NODE}}`]: '0x20 1260x20',
    },
    22,
    15,
  ],
];

describe('the alerts', () => {
  it('are valid', () => {
    expect(execFileSync('promtool', ['check', 'rules', RULES], { encoding: 'utf8' })).toContain(
      `${alerts.length} rules`,
    );
  });

  it('fire when they should, and not before', () => {
    expect([...new Set(CASES.map(([alert]) => alert))].sort()).toEqual(alerts.sort());
    const expr = 'count by (alertname) (ALERTS{alertstate="firing"})';
    const tests = CASES.map(([alert, series, firing, quiet]) => ({
      name: alert,
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        { expr, eval_time: `${firing}m`, exp_samples: [{ labels: `{alertname="${alert}"}`, value: 1 }] },
        { expr, eval_time: `${quiet}m`, exp_samples: [] },
      ],
    }));
    const file = join(tempDir(), 'tests.json');
    writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));
    expect(execFileSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS');
  });
});
