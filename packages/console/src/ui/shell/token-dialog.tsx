import { useRef, useState } from 'preact/hooks';
import { session } from '../../state/session.ts';
import { Dialog } from '../dialog.tsx';
import { useStore } from '../hooks/use-store.ts';

/** Asks for a token whenever the node wants one. */
export function TokenDialog() {
  const isOpen = useStore(session.isTokenDialogOpen);
  return (
    <Dialog
      title="A token is needed"
      class="token-dialog"
      isOpen={isOpen}
      onClose={() => {
        if (session.isTokenDialogOpen.value) session.decline();
      }}
    >
      <TokenForm />
    </Dialog>
  );
}

function TokenForm() {
  const isRefused = useStore(session.isRefused);
  const [problem, setProblem] = useState<string | null>(null);
  const token = useRef<HTMLInputElement>(null);
  const keep = useRef<HTMLInputElement>(null);
  const shown = problem ?? (isRefused ? 'The node refused this token.' : null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = token.current?.value.trim() ?? '';
    if (session.canSend(given)) session.give(given, { keep: keep.current?.checked ?? false });
    else setProblem(given ? 'A token has no blanks and only plain letters, digits and signs.' : 'Enter a token.');
  };
  return (
    <form onSubmit={submit}>
      <p>This node answers only with a token. It goes to this node alone, and never into an address.</p>
      <label class="field">
        Token
        <input
          ref={token}
          type="password"
          autocomplete="off"
          autofocus
          aria-invalid={shown !== null}
          aria-describedby="token-problem"
        />
      </label>
      <p id="token-problem" class="problem" role="alert">
        {shown}
      </p>
      <label class="choice">
        <input ref={keep} type="checkbox" /> Keep for this tab
      </label>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={() => session.decline()}>
          Go on without
        </button>
        <button type="submit" class="button button-primary">
          Use token
        </button>
      </div>
    </form>
  );
}
