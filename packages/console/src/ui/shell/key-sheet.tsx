import { useEffect } from 'preact/hooks';
import { keyGroups } from '../../log-view/log-keys.ts';
import { preferences } from '../../state/preferences.ts';
import { sheet, takeSheetKeys } from '../../state/sheet.ts';
import { Dialog } from '../dialog.tsx';
import { useStore } from '../hooks.ts';

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
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={() => close()}>
          Close
        </button>
      </div>
    </>
  );
}

function close(): void {
  if (sheet.value === 'keys') sheet.set(null);
}
