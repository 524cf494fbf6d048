import { arch, platform, release } from 'node:os';
import { expectCode } from '../error-code.ts';
import { ownVersion } from '../version.ts';
import { type BundleContext, isUnresponsive } from './bundle-context.ts';

/** Groups of the digest. */
const DIGEST_GROUPS = 500;

/** Identity and configuration of the members, and the state of this node. */
export async function addState(context: BundleContext): Promise<void> {
  const { writer, names, nodes, cluster, request, signal, sources } = context;
  const { fromMs, toMs, ...selection } = request;
  await writer.addJson(names.take(['members.json']), async () => nodes);
  await addVersions(context);
  await addConfigs(context);
  await writer.addJson(names.take(['config-diff.json']), () => cluster.configDiff(selection, { signal }));
  await writer.addJson(names.take(['health.json']), () => sources.health.check());
  await writer.addWhole(names.take(['metrics.txt']), () => sources.metrics.render());
  await writer.addJson(names.take(['digest.json']), () =>
    cluster.logDigest({ ...request, limit: DIGEST_GROUPS }, { signal, budgetMs: sources.countBudgetMs }),
  );
}

async function addVersions({ writer, names, configs, cluster, signal }: BundleContext): Promise<void> {
  const fetchVersion = async (id: string) => {
    try {
      const { node, versions, observes, timeZone } = await cluster.member(id).describe({ signal });
      return { id, version: node.version, ...versions, observes, timeZone };
    } catch (error) {
      signal.throwIfAborted();
      expectCode(error);
      return { id, version: null }; // the manifest has the reason
    }
  };
  await writer.addJson(names.take(['versions.json']), async () => {
    const members = [];
    for (const config of configs) {
      const { id } = config;
      members.push(
        isUnresponsive(config) ? { id, version: config.config?.node.version ?? null } : await fetchVersion(id),
      );
    }
    const madeOn = { porthole: ownVersion(), node: process.versions.node, os: `${platform()} ${release()} ${arch()}` };
    return { madeOn, members };
  });
}

async function addConfigs({ writer, names, configs, cluster, signal }: BundleContext): Promise<void> {
  for (const memberConfig of configs) {
    const { id: node, config, report } = memberConfig;
    const [tomlName, settingsName] = ['.toml', '.settings.json'].map((ending) => names.take(['config', node], ending));
    const reason = report.detail === null ? report.outcome : `${report.outcome}: ${report.detail}`;
    // A member that left regularly is not missing; it has its own line in the manifest.
    const hasLeft = report.outcome === 'left';
    if (config === null) {
      if (!hasLeft) writer.addMissing(tomlName ?? '', reason, node);
    } else {
      const asOf = report.asOfMs === null ? '' : new Date(report.asOfMs).toISOString();
      const problems = asOf === '' || hasLeft ? [] : [`snapshot as of ${asOf}: ${reason}`];
      await writer.addWhole(tomlName ?? '', async () => config.config, { node, problems });
    }
    if (hasLeft) continue;
    if (isUnresponsive(memberConfig)) writer.addMissing(settingsName ?? '', reason, node);
    else await writer.addJson(settingsName ?? '', () => cluster.member(node).settings({ signal }), { node });
  }
}
