import type { CommandDefinition } from '../../command-definition.ts';
import { COLOR_FLAG } from '../../shared-flags.ts';

export const DOCTOR_COMMAND: CommandDefinition = {
  name: 'doctor',
  about:
    'check settings, directories, permissions, clock, ports and TLS, and say what to do; exit code 1 if something is wrong',
  flags: async () => {
    const { SERVE_FLAGS } = await import('../serve/setting-flags.ts');
    const output = {
      long: 'output',
      short: 'o',
      value: 'format',
      choices: ['text', 'json'],
      default: 'text',
      about: 'how it is written',
    } as const;
    return [output, COLOR_FLAG, ...SERVE_FLAGS];
  },
  notes: ['Takes the flags, environment and settings file of "porthole serve", and looks at what they would do.'],
  examples: [
    ['porthole doctor', 'the default settings'],
    ['porthole doctor --config /etc/porthole.toml', 'what serve would do with this file'],
  ],
  load: () => import('./doctor.ts'),
};
