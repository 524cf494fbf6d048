import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { StartError } from '../errors.ts';
import { loadSettings, type SettingsSources } from '../settings/load-settings.ts';
import { parseWebhooks } from '../settings/webhooks.ts';
import { ownVersion } from '../version.ts';
import { createWebhookFetch, type SendOutcome, sendWebhook } from './send-webhook.ts';

/** What became of a test event. */
export interface WebhookTest extends SendOutcome {
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
