import { createHmac, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { errorMessage, type FetchFunction, type NodeEvent, readRetryAfter } from '@porthole/contract';
import { createMemberFetch } from '../cluster/member-fetch.ts';
import { StartError } from '../errors.ts';
import { loadSettings, type SettingsSources } from '../settings/load-settings.ts';
import { parseWebhooks, type Webhook } from '../settings/webhooks.ts';
import { ownVersion } from '../version.ts';

/** A receiver that takes longer has failed. */
const TIMEOUT_MS = 10_000;

/** What is read of a response: why it was refused. */
const MAX_RESPONSE_BYTES = 4096;

/** The part of it that is shown. */
const MAX_DETAIL = 200;

/** The longest wait that a receiver can ask for. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** Whose event it is, and which. */
export interface Notification {
  /** The same each time it is sent: a receiver knows by it that it has it. */
  id: string;
  cluster: string;
  node: string;
  event: Pick<NodeEvent, 'timeMs' | 'level' | 'message' | 'fields'> & { kind: string };
}

/** What became of a notification; `status` is missing without a response. */
export interface SendOutcome {
  isDelivered: boolean;
  status?: number;
  detail: string;
  /** What the receiver asks to wait. */
  retryAfterMs?: number;
}

/** How webhooks are contacted: never at an address of the machine's own network or of a cloud, and redirects are not followed. */
export async function createWebhookFetch(): Promise<FetchFunction> {
  const { createMemberNetworks } = await import('@porthole/cluster');
  const networks = createMemberNetworks([], 'webhooks');
  const { fetch } = await createMemberFetch({ ca: undefined, cert: undefined, key: undefined }, networks.lookup);
  return async (url, init) => {
    networks.check(new URL(url).hostname);
    return fetch(url, init);
  };
}

interface SendOptions {
  fetch: FetchFunction;
  version: string;
  signal: AbortSignal;
  timeoutMs?: number;
}

/** Sends a notification once. Throws only the reason of the signal. */
export async function sendWebhook(
  webhook: Webhook,
  notification: Notification,
  { fetch, version, signal, timeoutMs = TIMEOUT_MS }: SendOptions,
): Promise<SendOutcome> {
  const leaving = new AbortController();
  const leave = () => leaving.abort(signal.reason);
  const timer = setTimeout(() => leaving.abort(new Error(`no response within ${timeoutMs} ms`)), timeoutMs);
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    // Read each time: who renews a secret expects it to be used.
    const url = webhook.url ?? (await readSecret(webhook['url-file']));
    const secret = webhook['secret-file'] === undefined ? undefined : await readSecret(webhook['secret-file']);
    const body = render(webhook, notification);
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `porthole/${version}`,
        'x-porthole-event': notification.event.kind,
        ...(secret !== undefined && signatureOf(body, secret)),
      },
      body,
      redirect: 'manual',
      cache: 'no-store',
      signal: leaving.signal,
    });
    const text = await readStart(response.body);
    const { status } = response;
    if (status >= 200 && status < 300) return { isDelivered: true, status, detail: `status ${status}` };
    // clock: compared with dates that receivers send
    const askedMs = readRetryAfter(response.headers.get('retry-after'), Date.now());
    const detail = `status ${status}${text === '' ? '' : `: ${text}`}`;
    return {
      isDelivered: false,
      status,
      detail,
      ...(askedMs !== undefined && { retryAfterMs: Math.min(askedMs, MAX_RETRY_AFTER_MS) }),
    };
  } catch (error) {
    signal.throwIfAborted();
    return { isDelivered: false, detail: errorMessage(leaving.signal.aborted ? leaving.signal.reason : error) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}

async function readSecret(path = ''): Promise<string> {
  const text = (await readFile(path, 'utf8')).trim();
  if (text === '') throw new Error(`${path} is empty`);
  return text;
}

/** By this header a receiver knows that a body is from here, and not an old one. */
function signatureOf(body: string, secret: string): Record<string, string> {
  // clock: timestamps of signatures
  const timestamp = String(Math.floor(Date.now() / 1000));
  const digest = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return { 'x-porthole-timestamp': timestamp, 'x-porthole-signature': `sha256=${digest}` };
}

function render({ format }: Webhook, { id, cluster, node, event }: Notification): string {
  const { kind, timeMs, level, message, fields } = event;
  const time = new Date(timeMs).toISOString();
  if (format === 'json') return JSON.stringify({ id, cluster, node, kind, time, level, message, fields });
  const text = `*${kind}* ${slackText(message)}\n${slackText(node)} · ${slackText(cluster)} · ${time}`;
  return JSON.stringify({ text });
}

/** Slack and Mattermost read links and mentions from these. */
function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

type Body = Awaited<ReturnType<FetchFunction>>['body'];

async function readStart(body: Body): Promise<string> {
  const reader = body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done || !value) break;
    bytes += value.length;
    text += decoder.decode(value.subarray(0, MAX_RESPONSE_BYTES), { stream: true });
    if (bytes < MAX_RESPONSE_BYTES) continue;
    await reader.cancel();
    break;
  }
  return text
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_DETAIL);
}

/** What became of a test event. */
interface WebhookTest extends SendOutcome {
  name: string;
  elapsedMs: number;
}

/** Sends a test event to each webhook of the settings, once. */
export async function testWebhooks(sources: SettingsSources, signal: AbortSignal): Promise<WebhookTest[]> {
  const { settings } = await loadSettings(sources);
  const { webhooks } = parseWebhooks(settings.notify.webhook, '/');
  if (webhooks.length === 0) throw new StartError('notify.webhook is not set: it says where events are sent to');
  const fetch = await createWebhookFetch();
  const { name: cluster, nodeId } = settings.cluster;
  const node = nodeId || hostname();
  // clock: times of events
  const event = { kind: 'test', timeMs: Date.now(), level: 'INFO', message: 'this is a test', fields: {} } as const;
  return Promise.all(
    webhooks.map(async (webhook) => {
      const startedMs = performance.now();
      const notification = { id: `${node} test ${randomUUID()}`, cluster, node, event };
      const outcome = await sendWebhook(webhook, notification, { fetch, version: ownVersion(), signal });
      return { name: webhook.name, ...outcome, elapsedMs: Math.round(performance.now() - startedMs) };
    }),
  );
}
