import type { Truth } from './incident.ts';
import type { IncidentMaker } from './incident-maker.ts';
import type { LineText, NodeScript } from './node-script.ts';

/** Writes what goes wrong and returns what it is. */
export type Scenario = (make: IncidentMaker) => Truth;

const ids = (nodes: readonly NodeScript[]) => nodes.map(({ id }) => id);

/** The directory of the write-ahead log of one node is set to one that it may not write. */
function settingOnOneNode(make: IncidentMaker): Truth {
  const nodes = make.cluster('storage', make.words.int(3, 5));
  const bad = make.one();
  const changedMs = make.at(10, 38);
  bad.changeConfig(changedMs, { 'storage.wal.dir': '/mnt/fast/wal' });
  const startMs = make.after(changedMs, 35, 170);
  const endMs = make.after(startMs, 500, 1100);
  const failed: LineText = {
    level: 'ERROR',
    source: 'wal/writer.go:231',
    text: 'cannot append to write-ahead log: permission denied | shard={shard} path=/mnt/fast/wal/{shard}.wal',
  };
  bad.line(startMs, failed);
  make.repeat(bad, [startMs, endMs], 14, failed);
  make.repeat(bad, [startMs + 4000, endMs], 5, {
    level: 'ERROR',
    source: 'write/handler.go:104',
    text: 'write failed | shard={shard} code=500 requestId={req}',
  });
  for (const other of make.others(bad))
    make.repeat(other, [startMs + 20_000, endMs], 1.5, {
      level: 'WARN',
      source: 'replica/stream.go:91',
      text: 'replica is behind, retrying | shard={shard} lag={int:900:4000}',
    });
  // Somebody else edits something harmless, later.
  const other = make.one(nodes.filter((node) => node !== bad));
  other.changeConfig(make.after(startMs, 60, 300), { 'logging.level': 'debug' });
  return {
    isIncident: true,
    causes: [{ event: 'config-changed', nodes: [bad.id], key: 'storage.wal.dir' }],
    decoys: [{ event: 'config-changed', nodes: [other.id] }],
    startMs: changedMs,
    endMs,
    firstNodes: [bad.id],
  };
}

/** A disk fills up: warnings of the node, then failing writes, then only reads are served. */
function fullDisk(make: IncidentMaker): Truth {
  make.cluster('storage', make.words.int(2, 6));
  const full = make.one();
  const nearlyMs = make.at(6, 25);
  full.event(nearlyMs, 'disk-nearly-full', 'the disk of /data is 95 % full', {
    dir: '/data',
    freeBytes: make.words.int(1_000_000, 900_000_000),
    usedPercent: 95,
  });
  const fullMs = make.after(nearlyMs, 300, 900);
  const endMs = make.at(52, 59);
  make.repeat(full, [nearlyMs, fullMs], 0.6, {
    level: 'WARN',
    source: 'compact/scheduler.go:77',
    text: 'not enough room for a compaction, postponed | need={int:2:9}GiB',
  });
  make.repeat(full, [fullMs, endMs], (share) => (share < 0.3 ? 16 : 5), {
    level: 'ERROR',
    source: 'flush/flusher.go:150',
    text: 'flush failed: write /data/shard/{shard}/{hex:6}.sst: no space left on device | shard={shard}',
  });
  make.repeat(full, [fullMs, endMs], 3, {
    level: 'WARN',
    source: 'write/handler.go:120',
    text: 'memory table is full, write delayed | shard={shard} took={ms:2200}',
  });
  return {
    isIncident: true,
    causes: [
      { event: 'disk-nearly-full', nodes: [full.id] },
      { pattern: 'no space left on device', nodes: [full.id] },
    ],
    startMs: nearlyMs,
    endMs,
    firstNodes: [full.id],
  };
}

/** The clock of one node jumps; the others refuse what it sends. */
function clockStep(make: IncidentMaker): Truth {
  make.cluster('broker', make.words.int(3, 5));
  const wrong = make.one();
  const stepMs = make.at(12, 40);
  const byMs = make.words.pick([-41_300, -17_800, 63_200, 95_400, 38_900]);
  wrong.stepClock(stepMs, byMs);
  const endMs = make.at(50, 58);
  const number = wrong.id.replace('broker-', '');
  for (const other of make.others(wrong))
    make.repeat(other, [stepMs + 3000, endMs], 4, {
      level: 'ERROR',
      source: 'replication',
      text: `fetch response of broker ${number} refused: timestamps differ by {int:15:99} s`,
    });
  make.repeat(wrong, [stepMs + 5000, endMs], 3, {
    level: 'WARN',
    source: 'group',
    text: 'session of member {hex:8} in group {pick:billing,search,warehouse,fraud} expired',
  });
  return {
    isIncident: true,
    causes: [{ event: 'clock-stepped', nodes: [wrong.id] }],
    startMs: stepMs,
    endMs,
    firstNodes: [wrong.id],
  };
}

/** A new version is started on the first of five nodes, and the rollout is halted because it fails. */
function badRollout(make: IncidentMaker): Truth {
  make.cluster('orders', 5);
  const canary = make.one();
  const stopMs = make.at(14, 40);
  const startedMs = make.restart(canary, stopMs, { downSeconds: [12, 40], version: '6.2.0' });
  canary.line(startedMs + 900, {
    level: 'INFO',
    source: 'c.e.orders.Application',
    text: 'Starting Application v6.2.0 with PID {int:100:9999}',
  });
  canary.line(startedMs + 7000, {
    level: 'INFO',
    source: 'c.e.orders.Application',
    text: 'Started Application in {int:6:9}.{int:100:999} seconds',
  });
  const startMs = make.after(startedMs, 20, 90);
  const endMs = make.at(54, 59.5);
  make.repeat(canary, [startMs, endMs], 4, {
    level: 'ERROR',
    source: 'c.e.orders.OrderController',
    text: 'Unexpected failure while placing order={int:100000:999999}',
    trace: [
      'java.lang.NullPointerException: Cannot invoke "Discount.percent()" because "discount" is null',
      '\tat com.example.orders.pricing.PriceCalculator.total(PriceCalculator.java:88)',
      '\tat com.example.orders.OrderService.place(OrderService.java:152)',
    ],
  });
  return {
    isIncident: true,
    causes: [{ event: 'version-changed', nodes: [canary.id] }],
    startMs: stopMs,
    endMs,
    firstNodes: [canary.id],
  };
}

/** The certificate of the gateways ends. */
function expiredCertificate(make: IncidentMaker): Truth {
  const nodes = make.cluster('gateway', make.words.int(1, 4));
  const endsMs = make.at(9, 45);
  const endMs = make.toMs;
  for (const node of nodes) {
    const fields = { endsMs, subject: 'CN=api.example.net' };
    node.event(make.after(endsMs, 1, 60), 'certificate-expiring', 'the certificate of this node has expired', {
      endsMs,
      subject: fields.subject,
      cause: `certificate ${make.words.hex(8)} true`,
    });
    make.repeat(node, [endsMs, endMs], 9, {
      level: 'WARN',
      source: 'listener',
      text: 'TLS handshake failed: alert certificate expired | client={ip}',
    });
    node.setRate(endsMs, endMs, 0.35);
  }
  return {
    isIncident: true,
    causes: [{ event: 'certificate-expiring' }, { pattern: 'alert certificate expired' }],
    startMs: endsMs,
    endMs,
    firstNodes: ids(nodes),
  };
}

/** The traffic of one tenant takes the place of all others on a gateway. */
function noisyNeighbour(make: IncidentMaker): Truth {
  make.cluster('gateway', make.words.int(3, 6));
  const busy = make.one();
  const tenant = make.words.pick(['tyrell', 'wonka', 'cyberdyne', 'stark']);
  const startMs = make.at(12, 40);
  const endMs = make.after(startMs, 480, 900);
  const known = { tenant };
  make.repeat(
    busy,
    [startMs, endMs],
    (share) => (share < 0.15 ? 20 : 45),
    {
      level: 'INFO',
      source: 'access',
      text: 'GET /api/items 200 | status=200 tenant={tenant} took_ms={int:20:900} request_id={req}',
    },
    known,
  );
  make.repeat(
    busy,
    [startMs + 25_000, endMs],
    12,
    {
      level: 'WARN',
      source: 'limits',
      text: 'request refused: over its rate | status=429 tenant={tenant} request_id={req}',
    },
    known,
  );
  make.repeat(busy, [startMs + 30_000, endMs], 3, {
    level: 'ERROR',
    source: 'upstream',
    text: 'upstream timed out | upstream=items tenant={tenant} request_id={req}',
  });
  return {
    isIncident: true,
    causes: [{ field: 'tenant', value: tenant }],
    startMs,
    endMs,
    firstNodes: [busy.id],
  };
}

/** A node is killed and comes back after some minutes; the others take over what it led. */
function nodeKilled(make: IncidentMaker): Truth {
  make.cluster('broker', make.words.int(3, 7));
  const dead = make.one();
  const killedMs = make.at(10, 45);
  const number = dead.id.replace('broker-', '');
  dead.kill(killedMs);
  const others = make.others(dead);
  make.seenLost(others, dead, killedMs);
  for (const other of others) {
    make.repeat(other, [killedMs + 1500, killedMs + 40_000], 12, {
      level: 'WARN',
      source: 'replication',
      text: `broker ${number} does not answer, retrying topic={pick:clicks,orders,audit,metrics} partition={int:0:11}`,
    });
    make.repeat(other, [killedMs + 9000, killedMs + 14_000], 30, {
      level: 'INFO',
      source: 'controller',
      text: 'became leader of topic={pick:clicks,orders,audit,metrics} partition={int:0:11}',
    });
  }
  const backMs = make.after(killedMs, 100, 400);
  const isBack = make.words.random() < 0.7;
  if (isBack) {
    dead.start(backMs, { isReboot: make.words.random() < 0.5 });
    make.seenBack(others, dead, backMs, killedMs);
    make.repeat(dead, [backMs, backMs + 20_000], 40, {
      level: 'INFO',
      source: 'log',
      text: 'recovering an unflushed segment topic={pick:clicks,orders,audit,metrics} partition={int:0:11}',
    });
  }
  return {
    isIncident: true,
    causes: [
      { event: 'member-lost', nodes: [dead.id] },
      ...(isBack ? [{ event: 'killed', nodes: [dead.id] } as const] : []),
    ],
    startMs: killedMs,
    endMs: backMs,
    firstNodes: [dead.id],
  };
}

/** A node cannot start: its database refuses it, and it is started again and again. */
function restartLoop(make: IncidentMaker): Truth {
  make.cluster('orders', make.words.int(2, 4));
  const node = make.one();
  const startMs = make.at(15, 40);
  const others = make.others(node);
  let timeMs = startMs;
  node.stop(timeMs);
  const loops = make.words.int(5, 11);
  for (let loop = 0; loop < loops; loop++) {
    timeMs = make.after(timeMs, 8, 20);
    node.start(timeMs);
    node.line(timeMs + 700, {
      level: 'INFO',
      source: 'c.e.orders.Application',
      text: 'Starting Application v6.1.12 with PID {int:100:9999}',
    });
    const diedMs = make.after(timeMs, 9, 16);
    node.line(diedMs - 150, {
      level: 'ERROR',
      source: 'o.s.boot.SpringApplication',
      text: 'Application run failed',
      trace: [
        "org.springframework.beans.factory.BeanCreationException: Error creating bean with name 'flywayInitializer'",
        'Caused by: org.postgresql.util.PSQLException: FATAL: role "orders_migrator" is not permitted to log in',
      ],
    });
    node.kill(diedMs);
    timeMs = diedMs;
  }
  make.seenLost(others, node, startMs + 30_000);
  const backMs = make.after(timeMs, 20);
  node.start(backMs);
  make.seenBack(others, node, backMs, startMs + 29_000);
  // What is usual is written only while it serves.
  node.setRate(startMs, timeMs, 0);
  return {
    isIncident: true,
    causes: [
      { event: 'killed', nodes: [node.id] },
      { event: 'started', nodes: [node.id] },
      { pattern: 'Application run failed', nodes: [node.id] },
    ],
    startMs,
    endMs: timeMs,
    firstNodes: [node.id],
  };
}

/** One node is cut off from the others, and goes on by itself. */
function partition(make: IncidentMaker): Truth {
  make.cluster('storage', make.words.int(4, 7));
  const cut = make.one();
  const others = make.others(cut);
  const startMs = make.at(12, 42);
  const endMs = make.after(startMs, 180, 500);
  make.seenLost(others, cut, startMs, 'no response');
  for (const other of others) {
    make.seenLost([cut], other, startMs, 'no response');
    const timeout = 'rpc failed: dial tcp: i/o timeout | peer={peer} shard={shard}';
    const line: LineText = { level: 'ERROR', source: 'rpc/client.go:131', text: timeout };
    make.repeat(other, [startMs + 3000, endMs], 3, line, { peer: cut.id });
    make.repeat(cut, [startMs + 3000, endMs], 2, line, { peer: other.id });
  }
  make.seenBack(others, cut, endMs, startMs);
  for (const other of others) make.seenBack([cut], other, endMs, startMs);
  return {
    isIncident: true,
    causes: [
      { event: 'member-lost', nodes: [cut.id] },
      { field: 'peer', value: cut.id },
    ],
    startMs,
    endMs,
    firstNodes: ids(make.nodes),
  };
}

/** An error that is always there comes a hundred times as often on one node for some minutes. */
function burstOfKnownErrors(make: IncidentMaker): Truth {
  make.cluster('storage', make.words.int(2, 5));
  const node = make.one();
  const startMs = make.at(8, 48);
  const endMs = make.after(startMs, 200, 420);
  make.repeat(node, [startMs, endMs], (share) => 22 - 12 * share, {
    level: 'ERROR',
    source: 'query/executor.go:166',
    text: 'query failed: context deadline exceeded | shard={shard} tenant={tenant} requestId={req}',
  });
  return {
    isIncident: true,
    causes: [
      { pattern: 'query failed: context deadline exceeded', nodes: [node.id] },
      { event: 'log-burst', nodes: [node.id] },
    ],
    startMs,
    endMs,
    firstNodes: [node.id],
  };
}

/** The controllers elect a new leader again and again. */
function electionStorm(make: IncidentMaker): Truth {
  const nodes = make.cluster('broker', make.words.pick([3, 5]));
  const elected = (term: number): LineText => ({
    level: 'WARN',
    source: 'quorum',
    text: `no heartbeat of the leader for {int:1500:2600} ms, starting election for term ${term}`,
  });
  let term = make.words.int(40, 90);
  // One in the past: elections are known.
  make.one().line(make.pastMs + make.words.int(100, 900) * 1000, elected(term++));
  const startMs = make.at(10, 40);
  const endMs = make.after(startMs, 240, 700);
  for (let timeMs = startMs; timeMs < endMs; timeMs = make.after(timeMs, 8, 25), term++) {
    const candidate = make.one();
    candidate.line(timeMs, elected(term));
    for (const node of nodes)
      if (make.words.random() < 0.8)
        node.line(make.after(timeMs, 0.2, 1.2), {
          level: 'INFO',
          source: 'quorum',
          text: `voted for ${candidate.id} in term ${term}`,
        });
    make.one().line(make.after(timeMs, 1, 3), {
      level: 'WARN',
      source: 'produce',
      text: 'not the leader any more topic={pick:clicks,orders,audit,metrics} partition={int:0:11}',
    });
  }
  return {
    isIncident: true,
    causes: [{ pattern: 'starting election for term' }, { pattern: 'voted for' }],
    startMs,
    endMs,
    firstNodes: ids(nodes),
  };
}

/** Queries of one shard become slow wherever a replica of it is; the pattern is known. */
function slowShard(make: IncidentMaker): Truth {
  const nodes = make.cluster('storage', make.words.int(4, 6));
  const shard = String(make.words.int(0, 23));
  const owners = [...nodes].sort(() => make.words.random() - 0.5).slice(0, 2);
  const startMs = make.at(10, 40);
  const endMs = make.after(startMs, 600, 1100);
  for (const owner of owners) {
    make.repeat(
      owner,
      [startMs, endMs],
      5,
      {
        level: 'WARN',
        source: 'query/executor.go:158',
        text: 'slow query | shard={shard} tenant={tenant} took={ms:6000} requestId={req}',
      },
      { shard },
    );
    make.repeat(
      owner,
      [startMs + 60_000, endMs],
      0.8,
      {
        level: 'ERROR',
        source: 'query/executor.go:166',
        text: 'query failed: context deadline exceeded | shard={shard} tenant={tenant} requestId={req}',
      },
      { shard },
    );
  }
  return {
    isIncident: true,
    causes: [{ field: 'shard', value: shard }],
    startMs,
    endMs,
    firstNodes: ids(owners),
  };
}

/** A setting was changed on another node long before a provider of payments began to fail. */
function unrelatedChange(make: IncidentMaker): Truth {
  const nodes = make.cluster('orders', make.words.int(2, 4));
  const changed = make.one();
  const changedMs = make.at(-8, 4);
  changed.changeConfig(changedMs, { 'inventory.cache-ttl': 90, 'mail.enabled': false });
  const startMs = make.at(40, 50);
  const endMs = make.toMs;
  for (const node of nodes)
    make.repeat(node, [make.after(startMs, 0, 12), endMs], 3.5, {
      level: 'ERROR',
      source: 'c.e.orders.payment.PaymentClient',
      text: 'Provider answered 503 Service Unavailable provider=sepa order={int:100000:999999}',
    });
  return {
    isIncident: true,
    causes: [{ pattern: 'Provider answered 503' }, { field: 'provider', value: 'sepa' }],
    decoys: [{ event: 'config-changed' }],
    startMs,
    endMs,
    firstNodes: ids(nodes),
  };
}

/** A gateway loses its session store until it is restarted: the restart ends it, it is not the cause. */
function restartThatCures(make: IncidentMaker): Truth {
  make.cluster('gateway', make.words.int(2, 5));
  const stuck = make.one();
  const startMs = make.at(8, 30);
  const stopMs = make.after(startMs, 400, 900);
  make.repeat(stuck, [startMs, stopMs], 7, {
    level: 'ERROR',
    source: 'session',
    text: 'session not loaded: connection is closed | store=sessions:6379 request_id={req}',
  });
  make.repeat(stuck, [startMs + 10_000, stopMs], 4, {
    level: 'WARN',
    source: 'access',
    text: 'GET /api/users 401 | status=401 tenant={tenant} took_ms={int:1:9} request_id={req}',
  });
  const backMs = make.restart(stuck, stopMs, { downSeconds: [6, 20] });
  stuck.line(backMs + 400, { level: 'INFO', source: 'main', text: 'listening | port=8443 version=14.3.0' });
  return {
    isIncident: true,
    causes: [
      { pattern: 'session not loaded', nodes: [stuck.id] },
      { field: 'store', value: 'sessions:6379' },
    ],
    decoys: [
      { event: 'started', nodes: [stuck.id] },
      { event: 'stopped', nodes: [stuck.id] },
    ],
    startMs,
    endMs: stopMs,
    firstNodes: [stuck.id],
  };
}

/** A known error becomes more and more frequent everywhere; nobody has changed anything. */
function risingErrors(make: IncidentMaker): Truth {
  const nodes = make.cluster('orders', make.words.int(1, 4));
  const startMs = make.at(15, 30);
  const endMs = make.toMs;
  for (const node of nodes)
    make.repeat(node, [startMs, endMs], (share) => 0.2 + 7 * share, {
      level: 'ERROR',
      source: 'c.e.orders.OrderController',
      text: 'Order could not be placed: optimistic lock failed order={int:100000:999999}',
      trace: [
        'org.springframework.orm.ObjectOptimisticLockingFailureException: Row was updated by another transaction',
      ],
    });
  return {
    isIncident: true,
    causes: [{ pattern: 'optimistic lock failed' }, { event: 'log-burst' }],
    startMs,
    endMs,
    firstNodes: ids(nodes),
  };
}

/** A feature is switched on, which only a line of the log says. */
function switchedFeature(make: IncidentMaker): Truth {
  const nodes = make.cluster('gateway', make.words.int(2, 5));
  const startMs = make.at(12, 45);
  const endMs = make.at(52, 59);
  for (const node of nodes) {
    const seenMs = make.after(startMs, 0, 20);
    node.line(seenMs, {
      level: 'INFO',
      source: 'features',
      text: 'feature switched on | feature=price-preview share=50',
    });
    make.repeat(node, [make.after(seenMs, 5, 40), endMs], 4, {
      level: 'ERROR',
      source: 'access',
      text: 'response not sent: cannot serialize undefined price | feature=price-preview status=500 tenant={tenant} request_id={req}',
    });
    // Features are switched all the time.
    make.repeat(node, [make.pastMs, make.toMs], 0.03, {
      level: 'INFO',
      source: 'features',
      text: 'feature switched {pick:on,off} | feature={pick:dark-mode,fast-search,new-footer} share={int:1:99}',
    });
  }
  return {
    isIncident: true,
    causes: [{ field: 'feature', value: 'price-preview' }, { pattern: 'feature switched on' }],
    startMs,
    endMs,
    firstNodes: ids(nodes),
  };
}

/** By name; the name and a seed determine an incident. */
export const OPEN_INCIDENTS: Readonly<Record<string, Scenario>> = {
  'setting-on-one-node': settingOnOneNode,
  'full-disk': fullDisk,
  'clock-step': clockStep,
  'bad-rollout': badRollout,
  'expired-certificate': expiredCertificate,
  'noisy-neighbour': noisyNeighbour,
  'node-killed': nodeKilled,
  'restart-loop': restartLoop,
  partition,
  'burst-of-known-errors': burstOfKnownErrors,
  'election-storm': electionStorm,
  'slow-shard': slowShard,
  'unrelated-change': unrelatedChange,
  'restart-that-cures': restartThatCures,
  'rising-errors': risingErrors,
  'switched-feature': switchedFeature,
};
