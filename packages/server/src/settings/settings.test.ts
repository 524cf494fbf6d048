import { describe, expect, expectTypeOf, test } from 'vitest';
import { SETTING_DEFINITIONS, type SettingKey, type Settings } from './settings.ts';

describe.each(SETTING_DEFINITIONS.map((definition) => ({ key: definition.key, definition })))(
  '$key',
  ({ definition }) => {
    test('is documented in whole sentences', () => {
      expect(definition.about).toMatch(/^\S.{10,}\.$/);
    });
    test('has a default that its own kind accepts', () => {
      expect(definition.kind.read(definition.default, { form: 'option', baseDir: '/' })).toHaveProperty('value');
    });
    test('is no secret: it names the file that holds one', () => {
      expect(definition.name).not.toMatch(/(?:password|passphrase|secret|token|key)$/);
    });
    test('goes by names of the usual form', () => {
      expect(definition.key).toMatch(/^[a-z]+\.[a-z]+(-[a-z]+)*$/);
      expect(definition.env).toMatch(/^PORTHOLE(_[A-Z]+)+$/);
      expect(definition.flag).toMatch(/^--[a-z]+(-[a-z]+)*$/);
    });
  },
);

test.each(['key', 'env', 'flag'] as const)('no two settings share a %s', (name) => {
  expect(new Set(SETTING_DEFINITIONS.map((definition) => definition[name])).size).toBe(SETTING_DEFINITIONS.length);
});

test('names follow from the key unless given', () => {
  const names = new Map(SETTING_DEFINITIONS.map(({ key, env, flag }) => [key, `${env} ${flag}`]));
  expect(names.get('http.max-requests-per-second')).toBe(
    'PORTHOLE_HTTP_MAX_REQUESTS_PER_SECOND --http-max-requests-per-second',
  );
  expect(names.get('logging.level')).toBe('PORTHOLE_LOGGING_LEVEL --log-level');
  expect(names.get('service.log-dir')).toBe('PORTHOLE_SERVICE_LOG_DIR --log-dir');
  expect(names.get('service.config-file')).toBe('PORTHOLE_SERVICE_CONFIG_FILE --service-config');
});

test('the type of the settings follows from the table', () => {
  expectTypeOf<Settings['http']['stallTimeoutMs']>().toEqualTypeOf<number>();
  expectTypeOf<Settings['http']['allowedHosts']>().toEqualTypeOf<string[]>();
  expectTypeOf<Settings['logging']['level']>().toEqualTypeOf<'debug' | 'info' | 'warn' | 'error'>();
  expectTypeOf<Settings['auth']['allowAnonymous']>().toEqualTypeOf<boolean>();
  expectTypeOf<'http.max-url-bytes'>().toExtend<SettingKey>();
  expectTypeOf<'http.maxUrlBytes'>().not.toExtend<SettingKey>();
});
