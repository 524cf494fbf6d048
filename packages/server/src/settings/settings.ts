import type { LogTree } from '@porthole/logs';
import type { SettingKind, SettingScalar } from './setting-kinds.ts';
import { SETTING_ROWS, type SettingRow } from './setting-rows.ts';

type Table = typeof SETTING_ROWS;
type Section = keyof Table;
type Value<Row> = Row extends { kind: SettingKind<infer T> } ? T : never;

/** `maxUrlBytes` is `max-url-bytes`. */
type Kebab<P> = P extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${Kebab<Rest>}`
  : '';
type Name<P, Row> = Row extends { name: infer N extends string } ? N : Kebab<P extends `${infer Base}Ms` ? Base : P>;

/** The settings of a node: strict, complete, units in the names, paths absolute (or empty). */
export type Settings = {
  readonly [S in Section]: { readonly [P in keyof Table[S]]: Value<Table[S][P]> };
};

/** Settings from an embedding program, all optional. `undefined` is the same as leaving it out. */
export type PartialSettings = {
  readonly [S in Section]?: { readonly [P in keyof Settings[S]]?: Settings[S][P] | undefined } | undefined;
};

/** `http.port`, as messages and documentation name a setting. */
export type SettingKey = {
  [S in Section]: { [P in keyof Table[S]]: `${S}.${Name<P, Table[S][P]>}` }[keyof Table[S]];
}[Section];

/** One row of the table with all its names. */
export interface SettingDefinition extends Omit<SettingRow, 'default'> {
  key: string;
  section: string;
  name: string;
  /** Its name within `Settings[section]`. */
  property: string;
  default: SettingScalar;
  /** `PORTHOLE_HTTP_PORT` */
  env: string;
  /** `--http-port` */
  flag: string;
}

/** All settings in the order of the table. */
export const SETTING_DEFINITIONS: readonly SettingDefinition[] = Object.entries<Record<string, SettingRow>>(
  SETTING_ROWS,
).flatMap(([section, rows]) => Object.entries(rows).map(([property, row]) => define(section, property, row)));

/** The definitions by key. */
export const SETTINGS_BY_KEY: ReadonlyMap<string, SettingDefinition> = new Map(
  SETTING_DEFINITIONS.map((definition) => [definition.key, definition]),
);

export const SECTIONS: readonly string[] = Object.keys(SETTING_ROWS);

function define(section: string, property: string, row: SettingRow): SettingDefinition {
  const name = row.name ?? toKebabCase(property.replace(/Ms$/, ''));
  return {
    ...row,
    default: typeof row.default === 'object' ? [...row.default] : row.default,
    name,
    key: `${section}.${name}`,
    section,
    property,
    env: `PORTHOLE_${section}_${name}`.toUpperCase().replaceAll('-', '_'),
    flag: `--${row.flag ?? `${section}-${name}`}`,
  };
}

/** `maxStreams`, `max_streams` and `MAX-STREAMS` are all `max-streams`. */
export function toKebabCase(name: string): string {
  const dashed = name.replace(/([a-z0-9])([A-Z])/g, '$1-$2');
  return dashed.replaceAll('_', '-').toLowerCase();
}

/** Where the configuration of the service is read; `undefined`: the node shows its own. */
export function readServiceConfig({ service, config }: Pick<Settings, 'service' | 'config'>) {
  const { configFile, configFiles, configFormat } = service;
  if (configFile === '' && configFiles.length === 0) return undefined;
  const format = configFormat === 'auto' ? undefined : configFormat;
  return { configFile, configFiles, format, maxBytes: config.maxBytes };
}

/** Which directories below the log directory are read, and where links may lead. */
export function readTree({ recursive, recursiveDepth, recursiveFiles, roots }: Settings['log']): LogTree {
  return { depth: recursive ? recursiveDepth : 0, maxEntries: recursiveFiles, roots };
}
