import { useRef, useState } from 'preact/hooks';
import { session } from '../state/session.ts';
import { Button } from '../ui/controls.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useStore } from '../ui/hooks.ts';

/** Opens whenever the node requires a token. */
export function TokenDialog() {
  const isOpen = useStore(session.isTokenDialogOpen);
  return (
    <Dialog
      title="Enter a token"
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

const REJECTIONS = { invalid: 'The node rejected this token.', expired: 'Your token is no longer valid.' } as const;

function TokenForm() {
  const rejection = useStore(session.rejection);
  const [problem, setProblem] = useState<string | null>(null);
  const token = useRef<HTMLInputElement>(null);
  const keep = useRef<HTMLInputElement>(null);
  const shown = problem ?? (rejection && REJECTIONS[rejection]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const text = token.current?.value.trim() ?? '';
    if (session.canSend(text)) session.give(text, { keep: keep.current?.checked ?? false });
    else setProblem(text ? 'A token has only printable ASCII characters and no spaces.' : 'Enter a token.');
  };
  return (
    <form onSubmit={submit}>
      <p>This node requires a token. It is sent to this node only and is never part of a link.</p>
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
      <div class="wrap dialog-buttons">
        <Button onClick={() => session.decline()}>Continue without signing in</Button>
        <Button type="submit" class="is-primary">
          Use token
        </Button>
      </div>
    </form>
  );
}
