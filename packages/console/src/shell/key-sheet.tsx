import { useEffect } from 'preact/hooks';
import { keyGroups } from '../log-view/log-keys.ts';
import { preferences } from '../state/preferences.ts';
import { Store } from '../state/store.ts';
import { Button } from '../ui/controls.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { isTextField, useStore } from '../ui/hooks.ts';

export function KeySheet() {
  const isOpen = useStore(sheet) === 'keys';
  useEffect(() => takeSheetKeys(document, () => preferences.hasKeys.value), []);
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
                  <dt>
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

/** The open overlay: one at a time. */
export const sheet = new Store<'palette' | 'keys' | null>(null);

/** Handles Ctrl/Cmd+K everywhere, and `?` unless the user is typing. */
function takeSheetKeys(target: Document, hasKeys: () => boolean): () => void {
  const take = (event: KeyboardEvent) => {
    const next = sheetForKey(event, { hasKeys: hasKeys() });
    if (!next || isModal(target)) return;
    event.preventDefault();
    sheet.set(next);
  };
  target.addEventListener('keydown', take);
  return () => target.removeEventListener('keydown', take);
}

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'target'>;

function sheetForKey(press: Press, { hasKeys }: { hasKeys: boolean }): 'palette' | 'keys' | undefined {
  if ((press.ctrlKey || press.metaKey) && !press.altKey && press.key.toLowerCase() === 'k') return 'palette';
  if (press.key === '?' && hasKeys && !press.ctrlKey && !press.metaKey && !isTextField(press.target)) return 'keys';
  return undefined;
}

function isModal(target: Document): boolean {
  return target.querySelector('dialog[open]') !== null;
}
