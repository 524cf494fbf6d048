import type { ClusterNode, ClusterRecord, MemberReport, NodeDescription } from '@porthole/client';
import { outcomeText } from '@porthole/contract';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { preferences } from '../../state/preferences.ts';
import { cluster, type Resource } from '../../state/resource.ts';
import { type LogsView, nodeLogs, nodeView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Card } from '../../ui/controls.tsx';
import { CountChart, type CountColumn, sumColumns } from '../../ui/count-chart.tsx';
import {
  formatAge,
  formatBytes,
  formatCounted,
  formatDate,
  formatSecond,
  formatSpan,
  formatTime,
  recordedText,
} from '../../ui/format.ts';
import { useNow, useResource, useStore } from '../../ui/hooks.ts';
import { FailureNote, ResourceNote, Unknown } from '../../ui/notes.tsx';
import type { FileFamily } from './file-families.ts';
import { clockText, isClockOff, shippingText, stateText } from './node-health.ts';
import {
  descriptionResource,
  filesResource,
  type HourCounts,
  hourResource,
  type NewestErrors,
  type NodeFiles,
  newestErrorsResource,
  readinessResource,
} from './node-resources.ts';

export function NodeOverview({ node }: { node: ClusterNode }) {
  const { id } = node;
  const resources = useMemo(
    () => ({
      description: descriptionResource(id),
      hour: hourResource(id),
      files: filesResource(id),
      errors: newestErrorsResource(id),
    }),
    [id],
  );
  return (
    <div class="node-overview">
      <HourCard id={id} counts={resources.hour} />
      <div class="card-pair">
        <IdentityCard node={node} description={resources.description} />
        <HealthCard node={node} description={resources.description} />
      </div>
      <NewestErrorsCard id={id} errors={resources.errors} />
      <FilesCard id={id} files={resources.files} />
    </div>
  );
}

function HourCard({ id, counts }: { id: string; counts: Resource<HourCounts> }) {
  const { value } = useResource(counts);
  const hasCounted = value?.report?.outcome === 'ok';
  const totals = value && hasCounted ? sumColumns(value.columns) : null;
  const logs: LogsView = nodeLogs(id);
  const columnView = ({ startMs, endMs }: CountColumn): LogsView => ({
    ...logs,
    range: { kind: 'fixed', fromMs: startMs, toMs: endMs },
    minLevel: 'WARN',
    isLive: false,
  });
  return (
    <Card
      id="hour-title"
      class="chart-card"
      title="Errors and warnings, last hour"
      aside={
        totals && (
          <p class="chips">
            <a
              class="chip is-err"
              href={viewUrl({ ...logs, range: { kind: 'last', spanMs: 3_600_000 }, minLevel: 'ERROR' })}
            >
              {formatCounted(totals.errors, 'error')}
            </a>
            <a
              class="chip is-warn"
              href={viewUrl({ ...logs, range: { kind: 'last', spanMs: 3_600_000 }, minLevel: 'WARN' })}
            >
              {formatCounted(totals.warnings, 'warning')}
            </a>
          </p>
        )
      }
    >
      <ResourceNote resource={counts} what="The counts" />
      {value && hasCounted && <CountChart columns={value.columns} range={value.range} viewFor={columnView} />}
      <ReportNote report={value?.report ?? null} />
    </Card>
  );
}

function NewestErrorsCard({ id, errors }: { id: string; errors: Resource<NewestErrors> }) {
  const { value } = useResource(errors);
  const all: LogsView = { ...nodeLogs(id), minLevel: 'ERROR' };
  return (
    <Card id="errors-title" title="Newest errors" aside={<a href={viewUrl(all)}>all errors →</a>}>
      <ResourceNote resource={errors} what="The errors" loading="the newest errors" />
      {value && value.records.length === 0 && <p class="dim">No errors in the last 24 hours.</p>}
      {value && value.records.length > 0 && (
        <ul class="error-list">
          {value.records.map((record) => (
            <ErrorRow key={record.cursor} id={id} record={record} />
          ))}
        </ul>
      )}
      <ReportNote report={value?.report ?? null} />
    </Card>
  );
}

function ErrorRow({ id, record }: { id: string; record: ClusterRecord }) {
  const zone = useStore(preferences.zone);
  const nowMs = useNow();
  const { atMs, file, cursor, source, message, level } = record;
  const view: LogsView = { ...nodeLogs(id, { kind: 'file', name: file }), isLive: false };
  return (
    <li>
      <a class="error-link" href={viewUrl({ ...view, at: { node: id, cursor } })}>
        <span class="level-letter problem" title={level}>
          {level?.charAt(0)}
        </span>
        {atMs !== undefined && (
          <time class="mono" dateTime={new Date(atMs).toISOString()} title={formatDate(atMs, zone)}>
            {formatTime(atMs, zone)} <span class="dim">{formatAge(atMs, nowMs)}</span>
          </time>
        )}
        <code>{source ?? file}</code>
        <span class="cut site-message">{message.split('\n', 1)[0]}</span>
      </a>
    </li>
  );
}

const SHOWN = 6;

/** Summary of the log files of a node. */
function FilesCard({ id, files }: { id: string; files: Resource<NodeFiles> }) {
  const { value } = useResource(files);
  const tabUrl = viewUrl(nodeView(id, 'logs'));
  const sizeBytes = value?.files.reduce((sum, { size }) => sum + size, 0) ?? 0;
  return (
    <Card
      id="files-title"
      title={value ? `${formatCounted(value.files.length, 'log file')}, ${formatBytes(sizeBytes)}` : 'Log files'}
      aside={<a href={tabUrl}>all files →</a>}
    >
      <ResourceNote resource={files} what="The files" />
      <ul class="fact-list">
        {value?.families.slice(0, SHOWN).map((family) => (
          <FamilyLine key={family.name} id={id} family={family} />
        ))}
      </ul>
      {value && value.families.length > SHOWN && (
        <p>
          <a href={tabUrl}>{value.families.length - SHOWN} more logs →</a>
        </p>
      )}
      <ReportNote report={value?.report ?? null} />
    </Card>
  );
}

function FamilyLine({ id, family: { name, files, sizeBytes, lastTimeMs } }: { id: string; family: FileFamily }) {
  const zone = useStore(preferences.zone);
  const nowMs = useNow();
  const log = { kind: 'family', name } as const;
  return (
    <li>
      <a class="mono" href={viewUrl(nodeLogs(id, log))}>
        {name}
      </a>
      <span class="fact">
        {formatBytes(sizeBytes)}
        {files.length > 1 && <span class="dim"> in {files.length} files</span>}
        {lastTimeMs !== null && (
          <span class="dim" title={formatSecond(lastTimeMs, zone)}>
            {' '}
            · last line {formatAge(lastTimeMs, nowMs)}
          </span>
        )}
      </span>
    </li>
  );
}

interface NodeCardProps {
  node: ClusterNode;
  description: Resource<NodeDescription>;
}

const NOT_REPORTED = 'not reported, or the node is not responding';

/** Host, ports, versions and clock of a node. */
function IdentityCard({ node, description }: NodeCardProps) {
  const { value } = useResource(description);
  const { hostName, hostIp, httpPort, grpcPort, version } = node.node;
  return (
    <Card id="identity-title" title="Identity">
      <dl class="facts">
        <Fact name="Host">
          {hostName && hostName !== hostIp ? `${hostName} ` : ''}
          <span class="mono dim">{hostIp}</span>
        </Fact>
        <Fact name="Ports">
          HTTP {httpPort}
          {grpcPort !== 0 && ` · gRPC ${grpcPort}`}
        </Fact>
        <Fact name="Version">
          {version || <Unknown why={NOT_REPORTED} />}
          {value && (
            <span class="dim">
              {' '}
              · Porthole {value.versions.porthole} · Node.js {value.versions.node}
            </span>
          )}
        </Fact>
        <Fact name="Shows">{value ? observedText(value) : <Unknown why={NOT_REPORTED} />}</Fact>
        <UpSince node={node} />
        <Fact name="Clock">
          <ClockFact node={node} />
        </Fact>
        <Fact name="Time zone">{node.timeZone ?? <Unknown why={NOT_REPORTED} />}</Fact>
      </dl>
    </Card>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function UpSince({ node }: { node: ClusterNode }) {
  const zone = useStore(preferences.zone);
  const nowMs = useNow();
  const { onlineTime } = node.node;
  return (
    <Fact name="Up since">
      {onlineTime ? (
        `${formatDate(onlineTime, zone)} ${formatSecond(onlineTime, zone)}`
      ) : (
        <Unknown why="it has never responded" />
      )}
      {node.state === 'up' && <span class="dim"> · {formatSpan(nowMs - onlineTime)}</span>}
    </Fact>
  );
}

function ClockFact({ node: { clock, isSelf, state } }: { node: ClusterNode }) {
  if (isSelf) return <>this node's clock: all times shown are relative to it</>;
  if (!clock || state !== 'up') return <Unknown why="clock not compared: the node is not responding" />;
  return (
    <span class={isClockOff(clock) ? 'warning' : undefined}>
      {clockText(clock)}
      <span class="dim"> · timestamps corrected by this</span>
    </span>
  );
}

function observedText({ observes }: NodeDescription): string {
  return observes === 'self' ? 'its own configuration and logs' : 'the configuration and logs of the service beside it';
}

/** Readiness checks of the node and the operations it supports. */
function HealthCard({ node, description }: NodeCardProps) {
  const { value, asOfMs, failure } = useResource(description);
  return (
    <Card id="health-title" title="Health">
      {node.isSelf ? <OwnHealth /> : <ReportedHealth node={node} archive={value?.archive} />}
      {failure && node.state === 'up' && (
        <FailureNote what="The description" failure={failure} asOfMs={asOfMs} onRetry={() => description.reload()} />
      )}
      {value && (
        <details class="capabilities">
          <summary>{value.capabilities.length} operations supported</summary>
          <ul>
            {value.capabilities.map((name) => (
              <li key={name}>
                <code>{name}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Card>
  );
}

function OwnHealth() {
  const readiness = useMemo(() => readinessResource(), []);
  const { value, asOfMs, failure } = useResource(readiness);
  const retry = () => readiness.reload();
  if (failure) return <FailureNote what="The health checks" failure={failure} asOfMs={asOfMs} onRetry={retry} />;
  if (!value) return null;
  return (
    <ul class="check-list">
      <Check name="Overall" isOk={value.status === 'ready'} detail={value.status} />
      {value.checks.map(({ name, ok, detail }) => (
        <Check key={name} name={name} isOk={ok} detail={detail} />
      ))}
    </ul>
  );
}

/** The health of another node, as the node that serves this page sees it. */
function ReportedHealth({ node, archive }: { node: ClusterNode; archive: NodeDescription['archive'] }) {
  const { value } = useResource(cluster);
  const self = value?.nodes.find(({ isSelf }) => isSelf)?.id ?? 'this node';
  const isUp = node.state === 'up';
  const reportText = isUp
    ? `responded within ${formatSpan(node.report.elapsedMs)}`
    : (node.report.detail ?? stateText(node));
  return (
    <ul class="check-list">
      <Check name={`Seen from ${self}`} isOk={isUp} detail={reportText} />
      {archive && isUp && (
        <Check
          name="archive"
          isOk={archive.problem === null && archive.lostBytes === 0}
          detail={shippingText(archive)}
        />
      )}
    </ul>
  );
}

function Check({ name, isOk, detail }: { name: string; isOk: boolean; detail: string }) {
  return (
    <li>
      <span class={isOk ? 'ok' : 'problem'}>{isOk ? '✓' : '✗'}</span>
      <span class="sr-only">{isOk ? 'passed: ' : 'failed: '}</span>
      <span class="check-name">{name}</span>
      <span class="dim">{detail}</span>
    </li>
  );
}

/** Says what a response lacks: the node did not respond, or its response is incomplete. */
export function ReportNote({ report }: { report: MemberReport | null }) {
  const zone = useStore(preferences.zone);
  if (!report || (report.outcome === 'ok' && report.detail === null)) return null;
  return (
    <p class="partial">
      <span title={report.detail ?? undefined}>
        {report.outcome === 'ok' ? `Incomplete: ${report.detail}` : `No response: ${outcomeText(report.outcome)}`}
      </span>
      {report.asOfMs !== null && ` · ${recordedText({ ...report, asOfMs: report.asOfMs }, zone)}`}
    </p>
  );
}
