import type { LineText, LogFormat, SettingValues } from './node-script.ts';

/** A line that is written all the time. */
export interface Usual extends LineText {
  /** Lines a minute on each node. */
  perMinute: number;
}

/** Lines that are written one after another at regular times. */
export interface PeriodicJob {
  everyMinutes: number;
  /** How often the middle one is written. */
  repeats: readonly [number, number];
  first: LineText;
  middle: LineText;
  last: LineText;
}

/** A program of which each node runs one. */
export interface Service {
  name: string;
  format: LogFormat;
  logName: string;
  version: string;
  settings: SettingValues;
  usual: readonly Usual[];
  /** Mishaps that happen now and then and mean nothing; each at most a few times a day. */
  rare: readonly LineText[];
  jobs: readonly PeriodicJob[];
}

const storage: Service = {
  name: 'storage',
  format: 'zap',
  logName: 'storage.log',
  version: '2.8.1',
  settings: {
    'http.port': 2891,
    'storage.wal.dir': '/data/wal',
    'storage.wal.sync-interval': '1s',
    'storage.cache-size': '2GiB',
    'storage.flush-threads': 4,
    'storage.max-open-files': 4096,
    'query.timeout': '30s',
    'query.max-concurrency': 32,
    'replication.factor': 2,
    'replication.batch-size': 512,
    'monitor.report-interval': '10s',
    'logging.level': 'info',
  },
  usual: [
    {
      perMinute: 7,
      level: 'INFO',
      source: 'write/handler.go:88',
      text: 'write batch accepted | shard={shard} points={int:40:900} took={ms:6} requestId={req}',
    },
    {
      perMinute: 6,
      level: 'INFO',
      source: 'query/executor.go:141',
      text: 'query finished | shard={shard} tenant={tenant} series={int:1:400} took={ms:35} requestId={req}',
    },
    {
      perMinute: 3,
      level: 'DEBUG',
      source: 'wal/writer.go:203',
      text: 'wal synced | shard={shard} bytes={int:4096:262144} took={ms:3}',
    },
    {
      perMinute: 2,
      level: 'INFO',
      source: 'replica/stream.go:77',
      text: 'replica acknowledged | shard={shard} lag={int:0:40}',
    },
    {
      perMinute: 0.5,
      level: 'WARN',
      source: 'query/executor.go:158',
      text: 'slow query | shard={shard} tenant={tenant} took={ms:1400} requestId={req}',
    },
    {
      perMinute: 0.3,
      level: 'WARN',
      source: 'replica/stream.go:91',
      text: 'replica is behind, retrying | shard={shard} lag={int:200:900}',
    },
    {
      perMinute: 0.18,
      level: 'ERROR',
      source: 'query/executor.go:166',
      text: 'query failed: context deadline exceeded | shard={shard} tenant={tenant} requestId={req}',
    },
    {
      perMinute: 0.12,
      level: 'ERROR',
      source: 'write/handler.go:97',
      text: 'write rejected: metric name is too long | tenant={tenant} requestId={req}',
    },
  ],
  rare: [
    {
      level: 'WARN',
      source: 'index/inverted.go:310',
      text: 'tag dictionary grew by a third, rebuilding | shard={shard} took={ms:900}',
    },
    { level: 'ERROR', source: 'http/server.go:52', text: 'http: TLS handshake error from {ip}:{int:2000:60000}: EOF' },
    { level: 'WARN', source: 'rpc/client.go:120', text: 'connection reset by peer, reconnecting | peer={ip}:2892' },
    {
      level: 'ERROR',
      source: 'query/parser.go:33',
      text: 'cannot parse statement: unexpected token at {int:1:200} | tenant={tenant}',
    },
  ],
  jobs: [
    {
      everyMinutes: 12,
      repeats: [5, 14],
      first: { level: 'INFO', source: 'compact/scheduler.go:40', text: 'compaction started | levels={int:1:3}' },
      middle: {
        level: 'INFO',
        source: 'compact/worker.go:112',
        text: 'compacted table file | shard={shard} files={int:2:9} took={ms:420}',
      },
      last: { level: 'INFO', source: 'compact/scheduler.go:61', text: 'compaction finished | took={ms:5000}' },
    },
  ],
};

const gateway: Service = {
  name: 'gateway',
  format: 'json',
  logName: 'gateway.json.log',
  version: '14.3.0',
  settings: {
    'listen.port': 8443,
    'listen.max-connections': 2000,
    'tls.cert-file': '/etc/gateway/tls.crt',
    'upstream.timeout-ms': 2500,
    'upstream.retries': 2,
    'upstream.keep-alive': true,
    'auth.issuer': 'https://login.example.net',
    'auth.cache-seconds': 300,
    'limits.per-tenant-rps': 200,
    'session.store': 'redis://sessions:6379',
    'log.sample': 0.1,
  },
  usual: [
    {
      perMinute: 11,
      level: 'INFO',
      source: 'access',
      text: '{pick:GET,GET,POST,PUT} /api/{pick:carts,items,users,prices} {pick:200,200,200,201,304} | status={pick:200,200,200,201,304} tenant={tenant} took_ms={int:3:180} request_id={req}',
    },
    {
      perMinute: 3,
      level: 'DEBUG',
      source: 'auth',
      text: 'token accepted from cache | tenant={tenant} client={pick:web,ios,android,partner}',
    },
    {
      perMinute: 2,
      level: 'INFO',
      source: 'upstream',
      text: 'connection pool refreshed | upstream={pick:carts,items,users,prices} open={int:4:40}',
    },
    {
      perMinute: 1.2,
      level: 'WARN',
      source: 'access',
      text: 'client closed the request before the response | tenant={tenant} request_id={req}',
    },
    {
      perMinute: 0.5,
      level: 'WARN',
      source: 'upstream',
      text: 'retrying an idempotent request | upstream={pick:carts,items,users,prices} attempt=2 request_id={req}',
    },
    {
      perMinute: 0.3,
      level: 'ERROR',
      source: 'upstream',
      text: 'upstream timed out | upstream={pick:carts,items,users,prices} tenant={tenant} request_id={req}',
    },
    {
      perMinute: 0.4,
      level: 'WARN',
      source: 'limits',
      text: 'request refused: over its rate | status=429 tenant={tenant} request_id={req}',
    },
    {
      perMinute: 0.2,
      level: 'WARN',
      source: 'auth',
      text: 'token rejected: expired | tenant={tenant} client={pick:web,ios,android,partner}',
    },
  ],
  rare: [
    { level: 'ERROR', source: 'listener', text: 'malformed HTTP request line | client={ip}' },
    { level: 'WARN', source: 'auth', text: 'signing keys fetched later than planned | took_ms={int:900:4000}' },
    { level: 'WARN', source: 'listener', text: 'header of {int:17:60} kB refused | client={ip}' },
    {
      level: 'ERROR',
      source: 'access',
      text: 'response body shorter than announced | upstream={pick:carts,items,users,prices} request_id={req}',
    },
  ],
  jobs: [
    {
      everyMinutes: 5,
      repeats: [4, 4],
      first: { level: 'INFO', source: 'health', text: 'checking upstreams' },
      middle: {
        level: 'INFO',
        source: 'health',
        text: 'upstream is healthy | upstream={pick:carts,items,users,prices} took_ms={int:1:20}',
      },
      last: { level: 'DEBUG', source: 'health', text: 'all upstreams checked' },
    },
  ],
};

const orders: Service = {
  name: 'orders',
  format: 'logback',
  logName: 'orders.log',
  version: '6.1.12',
  settings: {
    'server.port': 8080,
    'server.tomcat.threads.max': 64,
    'spring.datasource.url': 'jdbc:postgresql://db-main:5432/orders',
    'spring.datasource.hikari.maximum-pool-size': 30,
    'spring.datasource.hikari.connection-timeout': 3000,
    'payment.endpoint': 'https://pay.example.net/v2',
    'payment.timeout-ms': 1500,
    'inventory.cache-ttl': 60,
    'mail.enabled': true,
    'scheduler.cleanup-cron': '0 */15 * * * *',
  },
  usual: [
    {
      perMinute: 8,
      level: 'INFO',
      source: 'c.e.orders.OrderController',
      text: 'Order placed order={int:100000:999999} customer={int:1000:9999} items={int:1:9} took={ms:48}',
    },
    {
      perMinute: 5,
      level: 'INFO',
      source: 'c.e.orders.payment.PaymentClient',
      text: 'Payment authorized order={int:100000:999999} provider={pick:visa,sepa,paypal} took={ms:210}',
    },
    {
      perMinute: 3,
      level: 'DEBUG',
      source: 'c.e.orders.inventory.StockCache',
      text: 'Cache refreshed for warehouse={pick:ber,muc,ham} entries={int:300:4000}',
    },
    {
      perMinute: 2,
      level: 'INFO',
      source: 'c.e.orders.mail.MailQueue',
      text: 'Confirmation queued order={int:100000:999999}',
    },
    {
      perMinute: 0.6,
      level: 'WARN',
      source: 'c.e.orders.inventory.StockCache',
      text: 'Stock of article {int:10000:99999} is below its minimum warehouse={pick:ber,muc,ham}',
    },
    {
      perMinute: 0.35,
      level: 'WARN',
      source: 'c.e.orders.payment.PaymentClient',
      text: 'Payment declined by provider={pick:visa,sepa,paypal} code={int:51:65} order={int:100000:999999}',
    },
    {
      perMinute: 0.2,
      level: 'ERROR',
      source: 'c.e.orders.OrderController',
      text: 'Order could not be placed: optimistic lock failed order={int:100000:999999}',
      trace: [
        'org.springframework.orm.ObjectOptimisticLockingFailureException: Row was updated by another transaction',
        '\tat org.springframework.orm.jpa.vendor.HibernateJpaDialect.convert(HibernateJpaDialect.java:318)',
        '\tat com.example.orders.OrderService.place(OrderService.java:141)',
      ],
    },
  ],
  rare: [
    {
      level: 'WARN',
      source: 'o.a.tomcat.util.http.Parameters',
      text: 'Character decoding failed. Parameter [q] has been ignored.',
    },
    {
      level: 'ERROR',
      source: 'c.e.orders.mail.MailQueue',
      text: 'Mail to customer={int:1000:9999} bounced: mailbox full',
    },
    {
      level: 'WARN',
      source: 'c.z.h.pool.HikariPool',
      text: 'Thread starvation or clock leap detected (housekeeper delta={int:50:58}s{int:1:900}ms).',
    },
    {
      level: 'ERROR',
      source: 'c.e.orders.export.CsvExport',
      text: 'Export aborted by the user after {int:100:9000} rows',
    },
  ],
  jobs: [
    {
      everyMinutes: 15,
      repeats: [8, 25],
      first: { level: 'INFO', source: 'c.e.orders.jobs.Cleanup', text: 'Cleanup of abandoned carts started' },
      middle: {
        level: 'WARN',
        source: 'c.e.orders.jobs.Cleanup',
        text: 'Removing abandoned cart cart={hex:8} idle={int:24:90}h',
      },
      last: {
        level: 'INFO',
        source: 'c.e.orders.jobs.Cleanup',
        text: 'Cleanup of abandoned carts finished took={ms:2500}',
      },
    },
  ],
};

const broker: Service = {
  name: 'broker',
  format: 'plain',
  logName: 'broker.log',
  version: '3.7.0',
  settings: {
    listeners: 'PLAINTEXT://:9092',
    'log.dirs': '/var/lib/broker',
    'log.retention.hours': 72,
    'num.io.threads': 8,
    'num.network.threads': 3,
    'replica.lag.time.max.ms': 30_000,
    'quota.producer.bytes': 10_485_760,
    'controller.quorum.voters': '1@broker-1,2@broker-2,3@broker-3',
    'auto.create.topics': false,
  },
  usual: [
    {
      perMinute: 7,
      level: 'INFO',
      source: 'produce',
      text: 'appended batch topic={pick:clicks,orders,audit,metrics} partition={int:0:11} records={int:1:500} took={ms:4}',
    },
    {
      perMinute: 6,
      level: 'INFO',
      source: 'fetch',
      text: 'served fetch topic={pick:clicks,orders,audit,metrics} partition={int:0:11} client={pick:billing,search,warehouse,fraud} bytes={int:200:90000}',
    },
    {
      perMinute: 2,
      level: 'DEBUG',
      source: 'replication',
      text: 'high watermark advanced topic={pick:clicks,orders,audit,metrics} partition={int:0:11} offset={int:100000:9999999}',
    },
    {
      perMinute: 1,
      level: 'INFO',
      source: 'group',
      text: 'heartbeat of member {hex:8} in group {pick:billing,search,warehouse,fraud}',
    },
    {
      perMinute: 0.4,
      level: 'WARN',
      source: 'group',
      text: 'member {hex:8} of group {pick:billing,search,warehouse,fraud} missed its heartbeat, rebalancing',
    },
    {
      perMinute: 0.3,
      level: 'WARN',
      source: 'produce',
      text: 'throttled client={pick:billing,search,warehouse,fraud} delay={ms:120}',
    },
    {
      perMinute: 0.15,
      level: 'ERROR',
      source: 'network',
      text: 'closing connection of {ip}: request of {int:2:40} MB is larger than the limit',
    },
  ],
  rare: [
    {
      level: 'WARN',
      source: 'log',
      text: 'recovering an unflushed segment topic={pick:clicks,orders,audit,metrics} partition={int:0:11}',
    },
    {
      level: 'ERROR',
      source: 'fetch',
      text: 'offset {int:1000:99999} is out of range topic=audit partition={int:0:11} client=warehouse',
    },
    { level: 'WARN', source: 'network', text: 'unknown API version {int:12:19} requested by {ip}' },
  ],
  jobs: [
    {
      everyMinutes: 10,
      repeats: [3, 12],
      first: { level: 'INFO', source: 'log-cleaner', text: 'retention check started' },
      middle: {
        level: 'INFO',
        source: 'log-cleaner',
        text: 'deleted segment topic={pick:clicks,orders,metrics} partition={int:0:11} bytes={int:1000000:9000000}',
      },
      last: { level: 'INFO', source: 'log-cleaner', text: 'retention check finished' },
    },
  ],
};

export const SERVICES = { storage, gateway, orders, broker };
