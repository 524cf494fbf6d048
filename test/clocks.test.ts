import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/**
 * Where the time of day is read, and why it is meant there. Everything else that lasts some time (limits, caches, deadlines,
 * waits) uses `performance.now()`, which does not jump.
 */
const TIMES_OF_DAY: Readonly<Record<string, string>> = {
  'archive/src/otlp/otlp-sink.ts': 'dates that receivers send',
  'archive/src/query/archive-state.ts': 'as of when a response is',
  'archive/src/ship/log-shipper.ts': 'versions of rows, and ages of records',
  'archive/src/ship/progress-writer.ts': 'up to when records were shipped',
  'archive/src/combined/combined-counts.ts': 'time ranges of requests',
  'archive/src/combined/plan-sources.ts': 'since when something fails, for people',
  'archive/src/combined/combined-reports.ts': 'compared with times of records',
  'client/src/check-arguments.ts': 'only named, in a message',
  'client/src/retry.ts': 'the time of day next to a clock that does not jump',
  'cluster/src/contract-only/follow-tails.ts': 'where records begin that are followed',
  'cluster/src/contract-only/tail-mirror.ts': 'as of when a copy is shown',
  'cluster/src/fan-out/clock.ts': 'clocks of members are compared with it',
  'cluster/src/local-cluster.ts': 'time ranges of questions',
  'cluster/src/membership/etcd-members.ts': 'when a node left',
  'cluster/src/membership/etcd/etcd-connection.ts': 'the deadline of a call, as the library wants it',
  'cluster/src/membership/member-directory.ts': 'since when a member is in its state',
  'cluster/src/membership/member-list.ts': 'as of when a list is shown',
  'cluster/src/membership/member-signs.ts': 'when members were seen and lost, next to a clock that does not jump',
  'cluster/src/membership/static-members.ts': 'as of when a list is shown',
  'cluster/src/open-cluster.ts': 'time ranges of questions',
  'cluster/src/records/follow/cluster-follow.ts': 'where records begin that are followed',
  'cluster/src/records/follow/followed-member.ts': 'where records begin that are followed',
  'cluster/src/membership/profiles/profile-cache.ts': 'ages of what is kept, which outlives the process',
  'cluster/src/past/config-history.ts': 'which version was last in use, by times of the file system',
  'cluster/src/recorder/recording.ts': 'ages of what is recorded, which outlives the process',
  'cluster/src/state/profile-collector.ts': 'as of when a configuration is shown',
  'logs/src/disk-index/index-watch.ts': 'compared with times of the file system',
  'logs/src/file/seen-paths.ts': 'compared with times of the file system',
  'logs/src/file/index-dir.ts': 'ages of files, which outlive the process',
  'logs/src/file/replace-file.ts': 'compared with times of the file system',
  'logs/src/file/file-stamp.ts': 'compared with times of the file system',
  'logs/src/follow/tail/rotation.ts': 'compared with times of the file system',
  'logs/src/follow/tail/tail-file.ts': 'the year of timestamps that have none',
  'logs/src/read/file-details.ts': 'compared with times of the file system',
  'logs/src/text-index/index-builder.ts': 'compared with times of the file system',
  'server/src/archive/init-archive.ts': 'when tables were made, and which days are too old',
  'server/src/auth/certificate-check.ts': 'ends of certificates',
  'server/src/auth/jwt-check.ts': 'ends of JWTs',
  'server/src/config/config-files.ts': 'compared with times of the file system',
  'server/src/bundle/open-bundle.ts': 'when a bundle was made',
  'server/src/doctor/check-result.ts': 'the clock of the machine is what is checked',
  'server/src/transport/request-policy.ts': 'relative times in requests',
  'server/src/events/event-log.ts': 'times of events',
  'server/src/events/log-events.ts': 'compared with times of records',
  'server/src/events/service-events.ts': 'times of events, and when the machine was started',
  'server/src/events/node-events.ts': 'steps of the clock are what is watched',
  'server/src/grpc/call-lifecycle.ts': 'the deadline of a call, as the library has it',
  'server/src/http/routes/download-routes.ts': 'the name a download is saved by',
  'server/src/journal/journal-spool.ts': 'names of rotated files',
  'server/src/notify/notifier.ts': 'ages of events, which outlive the process',
  'server/src/notify/send-webhook.ts': 'timestamps of signatures and test events, and dates that receivers send',
  'server/src/views/saved-views.ts': 'when views were saved',
  'server/src/local-node.ts': 'the clock that is shown to others',
  'server/src/own-log/own-log.ts': 'timestamps, and ages of files, which outlive the process',
  'server/src/own-log/rotated-files.ts': 'compared with times of the file system',
  'server/src/bind-ports.ts': 'compared with the start of another process',
  'server/src/open-node.ts': 'when the node came online',
  'server/src/service-log/pino.ts': 'timestamps of records that have none',
  'server/src/service-log/service-log.ts': 'timestamps, and ages of files, which outlive the process',
  'server/src/service-log/winston.ts': 'timestamps of records that have none',
};

/** All source files but tests, with their text. */
function readSources(): { file: string; text: string }[] {
  return ['archive', 'client', 'cluster', 'contract', 'logs', 'server']
    .flatMap((name) =>
      readdirSync(join(ROOT, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' }).map(
        (file) => `${name}/src/${file}`,
      ),
    )
    .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$|\/testing\/|\/generated\//.test(file))
    .map((file) => ({ file, text: readFileSync(join(ROOT, 'packages', file), 'utf8') }));
}

it('what lasts some time is measured by a clock that does not jump', () => {
  const found = readSources().filter(({ text }) => /\bDate\.now\b|\bnew Date\(\)/.test(text));
  expect(found.map(({ file }) => file).sort()).toEqual(Object.keys(TIMES_OF_DAY).sort());
});

it('no timeout is combined with another signal: Node.js collects it before it aborts', () => {
  const found = readSources().filter(
    ({ text }) => /AbortSignal\.any\(/.test(text) && /AbortSignal\.timeout\(/.test(text),
  );
  expect(found.map(({ file }) => file)).toEqual([]);
});
