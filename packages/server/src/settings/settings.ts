import type { SettingScalar } from './kinds/setting-kind.ts';
import { SETTING_ROWS, type SettingRow } from './rows/setting-rows.ts';

type Table = typeof SETTING_ROWS;
type Section = keyof Table;
type RowValue<Row> = Row extends SettingRow<string, infer T> ? T : never;
type RowName<Row> = Row extends SettingRow<infer N> ? N : never;

/** The settings of a node: strict, complete, units in the names, paths absolute (or empty). */
export type Settings = {
  readonly [S in Section]: { readonly [P in keyof Table[S]]: RowValue<Table[S][P]> };
};

/** Settings from an embedding program, all optional. `undefined` is the same as leaving it out. */
export type PartialSettings = {
  readonly [S in Section]?: { readonly [P in keyof Settings[S]]?: Settings[S][P] | undefined } | undefined;
};

/** `http.port`, as messages and documentation name a setting. */
export type SettingKey = {
  [S in Section]: { [P in keyof Table[S]]: `${S}.${RowName<Table[S][P]>}` }[keyof Table[S]];
}[Section];

/** One row of the table with all its names. */
export interface SettingDefinition extends Omit<SettingRow, 'flag' | 'secret'> {
  key: string;
  section: string;
  /** Its name within `Settings[section]`. */
  property: string;
  /** `PORTHOLE_HTTP_PORT` */
  env: string;
  /** `--http-port` */
  flag: string;
  secret: boolean;
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

/** The settings from one value per key. */
export function assembleSettings(read: (definition: SettingDefinition) => SettingScalar): Settings {
  const sections: Record<string, Record<string, SettingScalar>> = {};
  for (const definition of SETTING_DEFINITIONS) {
    const section = sections[definition.section] ?? {};
    section[definition.property] = read(definition);
    sections[definition.section] = section;
  }
  // Each value was parsed by the kind of its row, as the type says; the compiler cannot follow the loop.
  return sections as Settings;
}

function define(section: string, property: string, row: SettingRow): SettingDefinition {
  return {
    ...row,
    key: `${section}.${row.name}`,
    section,
    property,
    env: `PORTHOLE_${section}_${row.name}`.toUpperCase().replaceAll('-', '_'),
    flag: `--${row.flag ?? `${section}-${row.name}`}`,
    secret: row.secret ?? false,
  };
}
