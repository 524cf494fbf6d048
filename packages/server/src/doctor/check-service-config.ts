import { PortholeError } from '@porthole/contract';
import { readConfigFile } from '../config/read-config-file.ts';
import { redactToml } from '../config/redact-toml.ts';
import { flattenToml } from '../config/toml/flatten-toml.ts';
import { TomlError } from '../config/toml/toml-error.ts';
import { type CheckContext, type CheckOutcome, ok, problem } from './check-result.ts';

/** Whether the configuration file of the service can be shown. */
export async function checkServiceConfig({ settings: { service, config } }: CheckContext): Promise<CheckOutcome[]> {
  const file = service.configFile;
  if (file === '') return [];
  const { secretKeys, maxBytes } = config;
  try {
    const text = await readConfigFile(file, { maxBytes });
    redactToml(text, { secretKeys });
    const settings = flattenToml(text, { secretKeys });
    const secrets = settings.filter(({ secret }) => secret).length;
    return [ok(`${file} is valid TOML, ${settings.length} keys, ${secrets} of them masked as secrets`)];
  } catch (error) {
    if (error instanceof TomlError)
      return [problem(`${file}: ${error.message}`, `correct it, or set service.config-file (--service-config FILE)`)];
    if (!(error instanceof PortholeError)) throw error;
    return [
      problem(
        error.message,
        'set service.config-file (--service-config FILE) to a file that is readable for the user that runs the node',
      ),
    ];
  }
}
