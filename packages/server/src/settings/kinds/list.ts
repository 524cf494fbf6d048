import { type Reading, refuseType, type SettingKind, toReading } from './setting-kind.ts';

/** Lists are searched per request; one of thousands is a mistake. */
const MAX_ITEMS = 256;

/** Any number of items of one kind. Text is split at commas; items without content do not count. */
export function list(
  item: SettingKind<string>,
  { plural, maxItems = MAX_ITEMS }: { plural: string; maxItems?: number },
): SettingKind<string[]> {
  const wanted = { noun: `a list of ${plural}`, accepted: `at most ${maxItems}` };

  function readAll<V>(values: readonly V[], read: (value: V) => Reading<string>): Reading<string[]> {
    if (values.length > maxItems) return toReading<string[]>(wanted, values, undefined);
    const items: string[] = [];
    for (const value of values) {
      const reading = read(value);
      if ('refused' in reading) return reading;
      items.push(reading.value);
    }
    return { value: items };
  }

  return {
    name: `list of ${plural}`,
    ...wanted,
    shape: 'list',
    fromText: (text, baseDir) => readAll(splitAtCommas(text), (part) => item.fromText(part, baseDir)),
    fromToml: (value, baseDir) =>
      Array.isArray(value) ? readAll(value, (part) => item.fromToml(part, baseDir)) : refuseType(wanted, value),
    fromOption: (value, baseDir) =>
      Array.isArray(value)
        ? readAll<unknown>(value, (part) => item.fromOption(part, baseDir))
        : refuseType(wanted, value),
    toJson: (value) => [...value],
  };
}

function splitAtCommas(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
