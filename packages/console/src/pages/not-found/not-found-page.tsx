import type { View } from '../../state/view.ts';

export function NotFoundPage({ view }: { view: Extract<View, { page: 'unknown' }> }) {
  return (
    <div class="page-text">
      <h1>Nothing is here</h1>
      <p>
        The console has no page <code>{view.path}</code>.
      </p>
      <p>
        <a href="/">Cluster</a> · <a href="/logs">Logs</a> · <a href="/config">Configuration</a> ·{' '}
        <a href="/docs">Interface</a>
      </p>
    </div>
  );
}
