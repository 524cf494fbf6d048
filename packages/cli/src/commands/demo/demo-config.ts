/** What differs between the demo nodes. */
export interface DemoConfig {
  slowSql: string;
  idleTimeout: string;
  httpPort: number;
}

/** The configuration of a demo node. Its fake secrets show how masking works. */
export function demoConfig({ slowSql, idleTimeout, httpPort }: DemoConfig): string {
  return `## Configuration of a demo database node, written by "porthole demo" and removed when it stops.

## Where the broker finds its cluster.
[coordinator]
## Default: /lindb-cluster
namespace = "/lindb-cluster"
endpoints = ["http://etcd-1:2379", "http://lindb:made-up-etcd-pass@etcd-2:2379"]
lease-ttl = "10s"
username = "lindb"
## Default: "made-up-pass"
password = "made-up-pass"

[query]
query-concurrency = 30
idle-timeout = "${idleTimeout}"
max-tokens = 4096

[broker]
slow-sql = "${slowSql}"

[broker.http]
port = ${httpPort}
idle-timeout = "2m0s"

[broker.grpc]
port = ${httpPort + 1}
max-concurrent-streams = 1024

[broker.user]
username = "admin"
password = "made-up-admin-pass"

[monitor]
url = "http://broker:made-up-monitor-pass@127.0.0.1:9000/api/v1/write?db=_internal"
report-interval = "10s"

[logging]
dir = "./data/log"
level = "info"
maxsize = "100 MiB"
maxbackups = 3
maxage = 7
`;
}
