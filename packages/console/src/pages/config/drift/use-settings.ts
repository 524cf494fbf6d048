import type { ClusterConfigDiff, ClusterNode } from '@porthole/client';
import { useMemo } from 'preact/hooks';
import { outlierNodes, type RoleDiff } from '../../../config/drift-matrix.ts';
import { loadSettings } from '../../../config/load-node-config.ts';
import { type SettingsByKey, settingsByKey } from '../../../config/setting-marks.ts';
import { Resource } from '../../../state/resource.ts';
import { session } from '../../../state/session.ts';
import { useResource } from '../../../ui/hooks/use-resource.ts';

/** Defaults and sources are an addition: a few nodes tell them for nearly all keys. */
const MAX_NODES = 5;

const REFRESH_MS = 60_000;

const NONE: ReadonlyMap<string, SettingsByKey> = new Map();

/** Settings of nodes that differ and of this node, as far as they tell them. */
export function useSettings(
  role: RoleDiff | undefined,
  { members }: Pick<ClusterConfigDiff, 'members'>,
  nodes: readonly ClusterNode[],
): ReadonlyMap<string, SettingsByKey> {
  // One that did not answer would only hold up the others.
  const responding = new Set(members.filter(({ outcome }) => outcome === 'ok').map(({ id }) => id));
  const outliers = role ? outlierNodes(role).filter((id) => responding.has(id)) : [];
  const self = nodes.find(({ isSelf }) => isSelf)?.id;
  // Until it is known which node this is, none is asked: to ask some twice would show their answers twice.
  const ids = self === undefined ? [] : [...new Set([...outliers.slice(0, MAX_NODES), self])];
  // Ids have no spaces. Only other nodes are a reason to ask again.
  const key = ids.join(' ');
  const resource = useMemo(
    () =>
      new Resource(
        async (signal) => {
          const nodeIds = key.split(' ').filter((id) => id !== '');
          const loaded = await Promise.all(nodeIds.map((id) => loadSettings(session.client.cluster, id, { signal })));
          return new Map(nodeIds.flatMap((id, index) => settingsEntry(id, loaded[index]?.settings?.settings)));
        },
        { everyMs: REFRESH_MS },
      ),
    [key],
  );
  return useResource(resource).value ?? NONE;
}

function settingsEntry(
  id: string,
  settings: Parameters<typeof settingsByKey>[0] | undefined,
): (readonly [string, SettingsByKey])[] {
  return settings ? [[id, settingsByKey(settings)]] : [];
}
