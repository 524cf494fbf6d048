import { useMemo } from 'preact/hooks';
import { type KnownConfig, loadNodeConfig } from '../../../config/load-node-config.ts';
import { Resource } from '../../../state/resource.ts';
import { session } from '../../../state/session.ts';
import { FailureNote } from '../../../ui/failure-note.tsx';
import { useResource } from '../../../ui/hooks/use-resource.ts';
import { Loading } from '../../../ui/loading.tsx';
import { NoTextNote } from '../config-notes.tsx';
import { PairView } from './pair-view.tsx';

const REFRESH_MS = 30_000;

export function LoadedPair({ left, right }: { left: string; right: string }) {
  const resource = useMemo(
    () =>
      new Resource<readonly [KnownConfig, KnownConfig]>(
        (signal) => {
          const load = (id: string) => loadNodeConfig(session.client.cluster, id, { signal });
          return Promise.all([load(left), load(right)]);
        },
        { everyMs: REFRESH_MS },
      ),
    [left, right],
  );
  const { value, asOfMs, failure } = useResource(resource);
  return (
    <>
      {failure && (
        <FailureNote what="The configurations" failure={failure} asOfMs={asOfMs} onRetry={() => resource.reload()} />
      )}
      {value && <Shown pair={value} onRetry={() => resource.reload()} />}
      {!value && !failure && <Loading what="both configurations" />}
    </>
  );
}

interface ShownProps {
  pair: readonly [KnownConfig, KnownConfig];
  onRetry: () => void;
}

function Shown({ pair: [left, right], onRetry }: ShownProps) {
  const missing = [left, right].filter(({ text }) => text === null);
  if (missing.length === 0) return <PairView left={left} right={right} />;
  return (
    <>
      {missing.map(({ id, report }) => (
        <NoTextNote key={id} report={report} onRetry={onRetry} />
      ))}
    </>
  );
}
