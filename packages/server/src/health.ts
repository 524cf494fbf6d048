import { toProblem } from '@porthole/contract';

/** One thing the node depends on, as it is found now. */
export interface HealthCheck {
  name: string;
  ok: boolean;
  detail: string;
}

export interface Readiness {
  status: 'ready' | 'degraded' | 'stopping';
  checks: HealthCheck[];
}

export interface Health {
  check(): Promise<Readiness>;
}

/** A check that takes longer is itself the finding: a hanging disk must not make health hang. */
const CHECK_TIMEOUT_MS = 800;

export type Probe = () => Promise<Omit<HealthCheck, 'name'>>;

/** Looks at everything at once when asked. A node that can answer at all is ready; what is wrong is told beside it. */
export function createHealth(probes: Readonly<Record<string, Probe>>, isStopping: () => boolean): Health {
  return {
    async check() {
      const checks = await Promise.all(Object.entries(probes).map(([name, probe]) => runProbe(name, probe)));
      const status = isStopping() ? 'stopping' : checks.every(({ ok }) => ok) ? 'ready' : 'degraded';
      return { status, checks };
    },
  };
}

async function runProbe(name: string, probe: Probe): Promise<HealthCheck> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Omit<HealthCheck, 'name'>>((resolve) => {
    timer = setTimeout(
      () => resolve({ ok: false, detail: `no answer within ${CHECK_TIMEOUT_MS} ms` }),
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
