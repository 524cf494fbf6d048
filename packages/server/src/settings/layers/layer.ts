import type { SettingSource } from '@porthole/contract';
import type { Reading, SettingScalar } from '../kinds/setting-kind.ts';
import { refusalText } from '../kinds/setting-kind.ts';
import type { SettingsProblemCode } from '../problems/settings-error.ts';
import type { SettingDefinition } from '../settings.ts';

/** What one source says. */
export interface Layer {
  source: SettingSource;
  values: Map<string, SettingScalar>;
  findings: Finding[];
  warnings: string[];
}

/** A problem before its line is known: lines cost a second parse and are looked up only when something is wrong. */
export interface Finding {
  code: SettingsProblemCode;
  source: SettingSource;
  /** Where, for the reader: `environment PORTHOLE_HTTP_PORT`; the file's name for a file. */
  at: string;
  text: string;
  /** The setting concerned, where there is one. */
  key?: string;
  /** Where in the file. */
  path?: readonly string[];
  line?: number;
  column?: number;
}

export function emptyLayer(source: SettingSource): Layer {
  return { source, values: new Map(), findings: [], warnings: [] };
}

/** Takes the value into the layer, or says why not. */
export function take(
  layer: Layer,
  definition: SettingDefinition,
  { reading, ...location }: { reading: Reading<SettingScalar>; at: string; path?: readonly string[] },
): void {
  if (!('refused' in reading)) {
    layer.values.set(definition.key, reading.value);
    return;
  }
  const refusal = refusalText(reading, definition);
  const text = location.path === undefined ? refusal : `${definition.key}: ${refusal}`;
  report(layer, { code: 'BAD_VALUE', ...location, key: definition.key, text });
}

export function report(layer: Layer, finding: Omit<Finding, 'source'>): void {
  layer.findings.push({ ...finding, source: layer.source });
}
