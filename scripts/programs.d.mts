type ProgramName = 'curl' | 'git' | 'nginx' | 'openssl' | 'wrk';

export class ProgramsMissing extends Error {}
export function ensurePrograms<Name extends ProgramName>(names: readonly Name[]): Map<Name, string>;
