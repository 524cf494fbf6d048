import { access, constants, stat } from 'node:fs/promises';
import { types } from 'node:util';
import { type NodeProblem, type Readiness, toProblem } from '@porthole/contract';
import { Shared } from '@porthole/logs/shared';

/** The current state of one thing the node depends on. */
export type HealthCheck = Readiness['checks'][number];

export interface Health {
  check(): Promise<Readiness>;
  /** The failing checks, at most `RECENT_MS` old: every member requests them every few seconds. */
  problems(): Promise<NodeProblem[]>;
}

/** A check that takes longer counts as failed: a hanging disk must not block health checks. */
const CHECK_TIMEOUT_MS = 800;

/** Short enough to be current, long enough that the requests of a hundred members share one check. */
const RECENT_MS = 1000;

export type Probe = () => Promise<Omit<HealthCheck, 'name'>>;

/** Runs all checks concurrently on request. A node that can respond is ready; problems are reported with the status. */
export function createHealth(probes: Readonly<Record<string, Probe>>, isStopping: () => boolean): Health {
  const check = async (): Promise<Readiness> => {
    const checks = await Promise.all(Object.entries(probes).map(([name, probe]) => runProbe(name, probe)));
    const status = isStopping() ? 'stopping' : checks.every(({ ok }) => ok) ? 'ready' : 'degraded';
    return { status, checks };
  };
  const recent = new Shared<NodeProblem[]>({ keepMs: RECENT_MS });
  const findProblems = async () => {
    const { checks } = await check();
    return checks.filter(({ ok }) => !ok).map(({ name, detail }) => ({ check: name, detail }));
  };
  return { check, problems: () => recent.run(findProblems) };
}

async function runProbe(name: string, probe: Probe): Promise<HealthCheck> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Omit<HealthCheck, 'name'>>((resolve) => {
    timer = setTimeout(
      () => resolve({ ok: false, detail: `no response within ${CHECK_TIMEOUT_MS} ms` }),
      CHECK_TIMEOUT_MS,
    );
  });
  try {
    const { ok, detail } = await Promise.race([probe(), late]);
    return { name, ok, detail };
  } catch (error) {
    return { name, ok: false, detail: toProblem(error).detail };
  } finally {
    clearTimeout(timer);
  }
}

interface LogDirStatus {
  ok: boolean;
  missing: boolean;
  detail: string;
}

/** The current state of the log directory. A missing one counts as empty, but is reported. */
export async function probeLogDir(dir: string): Promise<LogDirStatus> {
  try {
    if (!(await stat(dir)).isDirectory()) return { ok: false, missing: false, detail: `${dir} is not a directory` };
    await access(dir, constants.R_OK | constants.X_OK);
    return { ok: true, missing: false, detail: `${dir} is readable` };
  } catch (error) {
    const code = types.isNativeError(error) && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return { ok: false, missing: true, detail: `${dir} does not exist` };
    return { ok: false, missing: false, detail: `${dir} cannot be read: ${code ?? error}` };
  }
}
