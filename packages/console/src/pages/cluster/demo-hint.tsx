import { preferences } from '../../state/preferences.ts';
import { useResource, useStore } from '../../ui/hooks.ts';
import { isUnconfigured, ownSettings } from './cluster-resources.ts';

/** Its name among what was dismissed. */
const NAME = 'demo hint';

/** What to do with a node that has nothing but itself to show: look at the demo cluster, or point it at a service. */
export function DemoHint() {
  const isDismissed = useStore(preferences.dismissed).includes(NAME);
  const { value } = useResource(ownSettings);
  const demoUrl = document.querySelector<HTMLMetaElement>('meta[name="porthole-demo"]')?.content;
  if (isDismissed || !(demoUrl || (value && isUnconfigured(value)))) return null;
  return (
    <section class="card hint-card" aria-labelledby="hint-title">
      <div class="card-head">
        <h2 id="hint-title">Nothing is configured yet</h2>
        <button type="button" class="link-button" onClick={() => preferences.dismiss(NAME)}>
          dismiss
        </button>
      </div>
      <p>
        {demoUrl && (
          <a class="button button-primary" href={demoUrl}>
            Open the demo cluster
          </a>
        )}
        <span>
          This node shows its own log and settings.{' '}
          {demoUrl ? (
            'The demo has three made-up nodes with live logs, one of them unhealthy; it stops with this node.'
          ) : (
            <>
              <code>npx porthole demo</code> runs a made-up cluster to look around in.
            </>
          )}
        </span>
      </p>
      <p class="dim">
        To show a service: <code>porthole serve --log-dir /var/log/my-service --service-config service.toml</code>
      </p>
    </section>
  );
}
