import type { Reading, SettingScalar } from '../kinds/setting-kind.ts';
import { closestMatch } from '../problems/closest-match.ts';
import { didYouMean } from '../problems/suggest-key.ts';
import { SECTIONS, SETTING_DEFINITIONS } from '../settings.ts';
import { describeFound, quote, showText } from '../show-value.ts';
import { emptyLayer, type Layer, report, take } from './layer.ts';

/** What the embedding program says. It may be JavaScript, so nothing about the object is taken for granted. */
export function readOptionLayer(options: object, baseDir: string): Layer {
  const layer = emptyLayer('option');
  for (const [section, properties] of Object.entries(options)) {
    if (properties === undefined) continue;
    if (SECTIONS.includes(section) && isRecord(properties)) {
      readProperties(layer, baseDir, { section, properties });
      continue;
    }
    const known = SECTIONS.includes(section);
    report(layer, {
      code: known ? 'BAD_VALUE' : 'UNKNOWN_KEY',
      at: `option ${showText(section)}`,
      text: known
        ? `expected an object, found ${describeFound(asToml(properties))}`
        : `unknown section${didYouMean(closestMatch(section, SECTIONS))}`,
    });
  }
  return layer;
}

function readProperties(
  layer: Layer,
  baseDir: string,
  { section, properties }: { section: string; properties: Record<string, unknown> },
): void {
  const definitions = SETTING_DEFINITIONS.filter((definition) => definition.section === section);
  for (const [property, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    const at = `option ${section}.${showText(property)}`;
    const definition = definitions.find((known) => known.property === property);
    if (definition === undefined) {
      const near = definitions.find(({ name }) => name === property)?.property;
      const meant =
        near ??
        closestMatch(
          property,
          definitions.map((known) => known.property),
        );
      const hint = meant === undefined ? '' : ` - did you mean ${quote(`${section}.${meant}`)}?`;
      report(layer, { code: 'UNKNOWN_KEY', at, text: `unknown setting${hint}` });
      continue;
    }
    take(layer, definition, { reading: toTomlReading(definition.kind.fromOption(value, baseDir)), at });
  }
}

/** Messages tell whole numbers from others by `bigint`, as the file's reader gives them. */
function toTomlReading(reading: Reading<SettingScalar>): Reading<SettingScalar> {
  return 'refused' in reading ? { ...reading, refused: asToml(reading.refused) } : reading;
}

function asToml(value: unknown): unknown {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
