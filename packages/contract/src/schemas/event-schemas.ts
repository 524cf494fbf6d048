import type { ClusterConfigHistory, ConfigHistory, ConfigPeriod, ConfigVersion, VersionChange } from '../events.ts';
import {
  anyValue,
  bool,
  exactObject,
  integer,
  listOf,
  nullable,
  nullableInteger,
  ref,
  text,
} from './schema-builders.ts';

/** The history of configurations. Events are records. */
export const EVENT_SCHEMAS = {
  ConfigHistory: exactObject<ConfigHistory>('The configurations of a node.', {
    periods: listOf(ref('ConfigPeriod'), 'Newest first.'),
    isComplete: bool('Whether the node still knows of every configuration since its first start.'),
  }),
  ConfigPeriod: exactObject<ConfigPeriod>('A configuration that a node has had for some time.', {
    version: text('Names the content: the same content has the same version.'),
    fromMs: integer('When it was first seen, epoch milliseconds.'),
    toMs: nullableInteger('When the next one was first seen; null: it is the current one.'),
    changes: nullable(
      listOf(ref('VersionChange')),
      'What changed from the one before; null if that is not kept, or there is none.',
    ),
  }),
  VersionChange: exactObject<VersionChange>('A setting with another value than before.', {
    key: text('Dotted key.'),
    before: anyValue('Its value before; null if it was missing. Secrets are masked.'),
    after: anyValue('Its value since then; null if it is missing. Secrets are masked.'),
  }),
  ConfigVersion: exactObject<ConfigVersion>('A configuration as it was served.', {
    version: text('Its version.'),
    config: text('The configuration as TOML, secrets masked.'),
    settings: listOf(
      exactObject<ConfigVersion['settings'][number]>('One key.', {
        key: text('Dotted key.'),
        value: anyValue('Its value; a secret is `******`.'),
      }),
    ),
  }),
  ClusterConfigHistory: exactObject<ClusterConfigHistory>('The configurations of all members.', {
    nodes: listOf(
      exactObject<ClusterConfigHistory['nodes'][number]>('One member.', {
        id: text('Id of the member.'),
        history: nullable(ref('ConfigHistory'), 'Null if the member did not send it.'),
      }),
    ),
    members: listOf(ref('MemberReport')),
  }),
};
