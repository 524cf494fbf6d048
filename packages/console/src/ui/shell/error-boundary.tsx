import { Component, type ComponentChildren } from 'preact';

interface Caught {
  error: Error | null;
}

/** A page that fails says so; everything around it stays. */
export class ErrorBoundary extends Component<{ children: ComponentChildren }, Caught> {
  override state: Caught = { error: null };

  static override getDerivedStateFromError(thrown: unknown): Caught {
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div class="page-text" role="alert">
        <h1>This page failed</h1>
        <p>That is a fault of the console. What the nodes hold is not touched by it.</p>
        <pre class="error-text">{error.stack ?? error.message}</pre>
        <button type="button" class="button" onClick={() => this.setState({ error: null })}>
          Try again
        </button>
      </div>
    );
  }
}
