type ProgramName =
  | 'chromium'
  | 'clickhouse-client'
  | 'clickhouse-server'
  | 'curl'
  | 'dd'
  | 'etcd'
  | 'git'
  | 'go'
  | 'grep'
  | 'grpc_python_plugin'
  | 'journalctl'
  | 'jq'
  | 'initdb'
  | 'lnav'
  | 'logrotate'
  | 'mariadb'
  | 'mariadb-install-db'
  | 'mariadbd'
  | 'mawk'
  | 'ls'
  | 'nginx'
  | 'openssl'
  | 'postgres'
  | 'protoc'
  | 'psql'
  | 'python3-grpcio'
  | 'redis-cli'
  | 'redis-server'
  | 'sqlite3'
  | 'systemd-analyze'
  | 'systemd-journal-remote'
  | 'wc'
  | 'wrk';

export class ProgramsMissing extends Error {}
export function ensurePrograms<Name extends ProgramName>(names: readonly Name[]): Map<Name, string>;
/** Where a program is; `undefined` if it is not installed. */
export function findProgram(name: string): string | undefined;
