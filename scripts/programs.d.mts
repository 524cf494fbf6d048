type ProgramName =
  | 'chromium'
  | 'clickhouse-client'
  | 'clickhouse-server'
  | 'curl'
  | 'dd'
  | 'etcd'
  | 'git'
  | 'grep'
  | 'grpc_python_plugin'
  | 'journalctl'
  | 'jq'
  | 'lnav'
  | 'logrotate'
  | 'mawk'
  | 'ls'
  | 'nginx'
  | 'openssl'
  | 'protoc'
  | 'python3-grpcio'
  | 'sqlite3'
  | 'systemd-analyze'
  | 'systemd-journal-remote'
  | 'wc'
  | 'wrk';

export class ProgramsMissing extends Error {}
export function ensurePrograms<Name extends ProgramName>(names: readonly Name[]): Map<Name, string>;
/** Where a program is; `undefined` if it is not installed. */
export function findProgram(name: string): string | undefined;
