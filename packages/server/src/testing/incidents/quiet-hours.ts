import type { Truth } from './incident.ts';
import type { IncidentMaker } from './incident-maker.ts';
import type { Scenario } from './open-incidents.ts';

const QUIET: Truth = { isIncident: false, causes: [] };

function nothing(make: IncidentMaker): Truth {
  make.cluster(make.words.pick(['storage', 'gateway', 'orders', 'broker']), make.words.int(1, 7));
  return QUIET;
}

/** All nodes get a new version, one after another, and work. */
function rollout(make: IncidentMaker): Truth {
  let timeMs = make.at(5, 15);
  for (const node of make.cluster('orders', make.words.int(2, 5))) {
    const backMs = make.restart(node, timeMs, { downSeconds: [10, 35], version: '6.1.13' });
    node.line(backMs + 800, {
      level: 'INFO',
      source: 'c.e.orders.Application',
      text: 'Starting Application v6.1.13 with PID {int:100:9999}',
    });
    node.line(backMs + 6500, {
      level: 'INFO',
      source: 'c.e.orders.Application',
      text: 'Started Application in {int:5:9}.{int:100:999} seconds',
    });
    timeMs = make.after(backMs, 60, 240);
  }
  return QUIET;
}

/** A setting is changed on all nodes and does what it should. */
function harmlessChange(make: IncidentMaker): Truth {
  const changedMs = make.at(8, 50);
  for (const node of make.cluster('storage', make.words.int(3, 5)))
    node.changeConfig(make.after(changedMs, 0, 30), { 'storage.cache-size': '3GiB' });
  return QUIET;
}

/** The logs are rotated, on one node twice. */
function rotation(make: IncidentMaker): Truth {
  const nodes = make.cluster('broker', make.words.int(2, 4));
  for (const node of nodes) {
    const timeMs = make.at(2, 50);
    node.rotate(timeMs);
    const message = 'broker.log was rotated: what it was until then is broker.log.1';
    node.event(timeMs, 'log-rotated', message, { log: 'broker.log', rotatedTo: 'broker.log.1' });
  }
  nodes[0]?.rotate(make.at(-20, 0));
  return QUIET;
}

/** Once an hour a report is made, with many lines and some warnings; the hour before had one too. */
function hourlyReport(make: IncidentMaker): Truth {
  const nodes = make.cluster('orders', make.words.int(2, 3));
  const startMs = make.at(35, 50);
  for (const node of nodes)
    for (const timeMs of [startMs, startMs - 3_600_000]) {
      node.line(timeMs, { level: 'INFO', source: 'c.e.orders.jobs.HourlyReport', text: 'Report started' });
      make.repeat(node, [timeMs, timeMs + 70_000], 70, {
        level: 'INFO',
        source: 'c.e.orders.jobs.HourlyReport',
        text: 'Report of customer={int:1000:9999} written, {int:1:30} orders',
      });
      make.repeat(node, [timeMs, timeMs + 70_000], 4, {
        level: 'WARN',
        source: 'c.e.orders.jobs.HourlyReport',
        text: 'No e-mail address of customer={int:1000:9999}, report kept',
      });
    }
  return QUIET;
}

/** Twice as much traffic for a quarter of an hour, and as much more of the usual mishaps. */
function busyQuarter(make: IncidentMaker): Truth {
  const startMs = make.at(10, 35);
  for (const node of make.cluster('gateway', make.words.int(3, 5)))
    node.setRate(startMs, make.after(startMs, 700, 1000), 2);
  return QUIET;
}

/** A node is restarted for an update of its machine; the others see it leave and come back. */
function plannedRestart(make: IncidentMaker): Truth {
  make.cluster('storage', make.words.int(3, 6));
  const node = make.one();
  const stopMs = make.at(10, 50);
  const backMs = make.restart(node, stopMs, { downSeconds: [60, 150] });
  node.line(backMs + 300, {
    level: 'INFO',
    source: 'server/main.go:31',
    text: 'storage node is starting | version=2.8.1',
  });
  node.line(backMs + 2600, {
    level: 'INFO',
    source: 'server/main.go:77',
    text: 'all shards are open | shards=12 took={ms:2100}',
  });
  return QUIET;
}

/** A developer turns on debugging on one node: many lines, none of them a problem. */
function debugging(make: IncidentMaker): Truth {
  make.cluster('storage', make.words.int(2, 4));
  const node = make.one();
  const fromMs = make.at(10, 40);
  const toMs = make.after(fromMs, 200, 500);
  node.changeConfig(fromMs, { 'logging.level': 'debug' });
  make.repeat(node, [fromMs + 2000, toMs], 60, {
    level: 'DEBUG',
    source: 'query/plan.go:44',
    text: 'plan node evaluated | shard={shard} rows={int:0:5000}',
  });
  node.changeConfig(toMs, { 'logging.level': 'info' });
  return QUIET;
}

/** At night hardly anything is written. */
function night(make: IncidentMaker): Truth {
  for (const node of make.cluster('gateway', make.words.int(2, 4))) node.setRate(make.pastMs, make.toMs, 0.08);
  return QUIET;
}

/** A node is added, and starts with an empty log. */
function newNode(make: IncidentMaker): Truth {
  const joinedMs = make.at(10, 40);
  const nodes = make.cluster('broker', make.words.int(3, 5), { lastStartsMs: joinedMs });
  const added = nodes.at(-1) ?? make.one();
  make.seenJoined(make.others(added), added, joinedMs);
  make.repeat(added, [joinedMs, joinedMs + 60_000], 30, {
    level: 'INFO',
    source: 'replication',
    text: 'copying partition topic={pick:clicks,orders,audit,metrics} partition={int:0:11} bytes={int:100000:9000000}',
  });
  return QUIET;
}

/** Hours in which nothing is wrong, by name. */
export const QUIET_HOURS: Readonly<Record<string, Scenario>> = {
  nothing,
  rollout,
  'harmless-change': harmlessChange,
  rotation,
  'hourly-report': hourlyReport,
  'busy-quarter': busyQuarter,
  'planned-restart': plannedRestart,
  debugging,
  night,
  'new-node': newNode,
};
