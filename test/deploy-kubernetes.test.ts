import { createRequire } from 'node:module';
import { getRoute } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { loadDeployedSettings, readDeployed } from './testing/deployed-settings.ts';

/** knip brings one. */
const { parse } = createRequire(createRequire(import.meta.url).resolve('knip'))('yaml') as {
  parse(text: string): Workload;
};

interface Probe {
  httpGet: { path: string; port: string; scheme: string };
}

interface Container {
  name: string;
  image: string;
  args: string[];
  env: { name: string; value?: string; valueFrom?: { fieldRef: { fieldPath: string } } }[];
  ports: { name: string; containerPort: number }[];
  livenessProbe: Probe;
  readinessProbe: Probe;
  securityContext: object;
  resources: { requests: object; limits: object };
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
}

interface Workload {
  kind: string;
  spec: {
    selector: { matchLabels: object };
    template: {
      metadata: { labels: object };
      spec: {
        automountServiceAccountToken: boolean;
        enableServiceLinks: boolean;
        terminationGracePeriodSeconds: number;
        containers: Container[];
        volumes: ({ name: string } & Record<string, unknown>)[];
      };
    };
  };
}

/** What stands for values that only the cluster knows. */
const FIELDS: Readonly<Record<string, string>> = { 'status.podIP': '10.0.0.7', 'spec.nodeName': 'machine-7' };

describe.each(['sidecar', 'daemonset'])('deploy/kubernetes/%s.yaml', (name) => {
  const { spec } = parse(readDeployed(`kubernetes/${name}.yaml`));
  const pod = spec.template.spec;
  const container = pod.containers.find((one) => one.name === 'porthole') as Container;
  const env = Object.fromEntries(
    container.env.map((one) => [one.name, one.value ?? FIELDS[one.valueFrom?.fieldRef.fieldPath ?? ''] ?? '']),
  );
  const findMount = (path: string) =>
    container.volumeMounts.find(({ mountPath }) => `${path}/`.startsWith(`${mountPath}/`));

  it('has settings that exist and that a node would start with', async () => {
    const [command, ...words] = container.args;
    expect(command).toBe('serve');
    expect(container.image).toBe(`porthole:${manifest.version}`);
    const { settings, warnings } = await loadDeployedSettings(words, env);
    expect(warnings).toEqual([]);
    expect(settings.auth.allowAnonymous).toBe(false);
    expect(container.ports).toEqual([
      { name: 'http', containerPort: settings.http.port },
      { name: 'grpc', containerPort: settings.grpc.port },
    ]);
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(settings.node.stopTimeoutMs);
  });

  it('asks for health at routes that need no token', () => {
    const scheme = 'HTTPS';
    expect(container.livenessProbe.httpGet).toEqual({ path: getRoute('live').path, port: 'http', scheme });
    expect(container.readinessProbe.httpGet).toEqual({ path: getRoute('ready').path, port: 'http', scheme });
    expect([getRoute('live').role, getRoute('ready').role]).toEqual(['none', 'none']);
  });

  it('gives the program no rights', () => {
    expect(container.securityContext).toEqual({
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    expect(Object.keys(container.resources.limits)).toEqual(['cpu', 'memory']);
  });

  it('mounts what is read as read-only, and what is written to as a volume of its own', async () => {
    const { settings } = await loadDeployedSettings([], env);
    const { service, auth, tls, logging } = settings;
    for (const path of [service.logDir, auth.tokenFile, tls.certFile, tls.keyFile])
      expect(findMount(path), path).toMatchObject({ readOnly: true });
    const writable = container.volumeMounts.filter(({ readOnly }) => readOnly !== true);
    expect(writable).toEqual([findMount(logging.dir)]);
    expect(pod.volumes.find((volume) => volume.name === writable[0]?.name)).toHaveProperty('emptyDir');
  });

  it('takes tokens and keys from secrets, as files', async () => {
    const { auth, tls } = (await loadDeployedSettings([], env)).settings;
    for (const path of [auth.tokenFile, tls.keyFile])
      expect(pod.volumes.find((volume) => volume.name === findMount(path)?.name)).toMatchObject({
        secret: { defaultMode: 0o440 },
      });
  });

  it('holds together: labels, volumes and their mounts', () => {
    expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
    const mounted = new Set(pod.containers.flatMap(({ volumeMounts }) => volumeMounts.map((mount) => mount.name)));
    expect(pod.volumes.map((volume) => volume.name).sort()).toEqual([...mounted].sort());
  });
});
