import { keyGroups } from '../log-view/key-groups.ts';
import { sheet } from '../state/notice.ts';
import { preferences } from '../state/preferences.ts';
import { Button } from '../ui/controls.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useStore } from '../ui/hooks.ts';

export function KeySheet() {
  const isOpen = useStore(sheet) === 'keys';
  return (
    <Dialog title="Keys" class="key-sheet" isOpen={isOpen} onClose={() => close()}>
      <KeyList />
    </Dialog>
  );
}

function KeyList() {
  const hasKeys = useStore(preferences.hasKeys);
  return (
    <>
      <label class="choice">
        <input
          type="checkbox"
          checked={hasKeys}
          onChange={({ currentTarget }) => preferences.hasKeys.set(currentTarget.checked)}
        />{' '}
        Single-letter shortcuts
      </label>
      <div class="key-groups">
        {keyGroups().map(({ name, keys }) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {keys.map(({ shown, meaning }) => (
                <div key={meaning}>
                  <dt class="flex wrap">
                    {shown.split(' ').map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{meaning}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <div class="wrap dialog-buttons">
        <Button onClick={() => close()}>Close</Button>
      </div>
    </>
  );
}

function close(): void {
  if (sheet.value === 'keys') sheet.set(null);
}
