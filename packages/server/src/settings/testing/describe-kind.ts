import type { TomlValue } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import type { SettingKind, SettingScalar } from '../setting-kinds.ts';

const TEXT = { form: 'text', baseDir: '/base' } as const;
const TOML = { form: 'toml', baseDir: '/base' } as const;

interface Spellings {
  kind: SettingKind;
  /** Text of an environment variable or flag, and the value it means. */
  text: [string, SettingScalar][];
  /** Values of the file, whole numbers as `bigint`. */
  toml: [TomlValue, SettingScalar][];
  refusedText: string[];
  refusedToml: TomlValue[];
}

/** What a kind accepts and refuses, spelling by spelling. Paths count from `/base`. */
export function describeKind(name: string, { kind, text, toml, refusedText, refusedToml }: Spellings): void {
  describe(name, () => {
    test.each(text)('%j as text is %j', (written, value) => {
      expect(kind.read(written, TEXT)).toEqual({ value });
    });
    test.each(toml)('%s in the file is %j', (written, value) => {
      expect(kind.read(written, TOML)).toEqual({ value });
    });
    test.each(refusedText.map((written) => [written]))('%j as text is refused', (written) => {
      expect(kind.read(written, TEXT)).toHaveProperty('refused');
    });
    test.each(refusedToml.map((written) => ({ written })))('$written in the file is refused', ({ written }) => {
      expect(kind.read(written, TOML)).toHaveProperty('refused');
    });
    test('what it means is accepted from a program, and what it writes means the same again', () => {
      for (const [, value] of [...text, ...toml]) {
        expect(kind.read(value, { ...TEXT, form: 'option' })).toEqual({ value });
        const written = kind.toJson(value);
        expect(kind.read(typeof written === 'number' ? BigInt(written) : written, TOML)).toEqual({ value });
      }
    });
  });
}
