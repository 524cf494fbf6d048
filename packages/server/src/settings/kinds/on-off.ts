import { type Reading, refuseType, type SettingKind, toReading } from './setting-kind.ts';

/** Spellings of shells, compose files and charts; the file itself has TOML's own two. */
const SPELLINGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['off', false],
  ['0', false],
]);

/** On or off. */
export function onOff(): SettingKind<boolean> {
  const wanted = { noun: 'a boolean', accepted: 'true or false' };
  function read(value: unknown): Reading<boolean> {
    return typeof value === 'boolean' ? { value } : refuseType(wanted, value);
  }
  return {
    name: 'boolean',
    ...wanted,
    shape: 'switch',
    fromText: (text) => toReading(wanted, text, SPELLINGS.get(text.toLowerCase())),
    fromToml: read,
    fromOption: read,
    toJson: (value) => value,
  };
}
