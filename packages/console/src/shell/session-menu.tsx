import type { ClusterNodes } from '@porthole/client';
import { useId, useState } from 'preact/hooks';
import { visibleText } from '../log-view/rows/record-text.ts';
import { sheet } from '../state/notice.ts';
import { preferences, type Theme } from '../state/preferences.ts';
import { whoAmI } from '../state/saved-views.ts';
import { session } from '../state/session.ts';
import { isZone, zoneNames } from '../state/time-zone.ts';
import { nodeView } from '../state/view.ts';
import { linkTo, viewUrl } from '../state/view-url.ts';
import { Segments, TextInput } from '../ui/controls.tsx';
import { zoneLabel } from '../ui/format.ts';
import { useMedia, useResource, useStore } from '../ui/hooks.ts';
import { MenuItem } from '../ui/menu.tsx';

const THEMES: readonly { value: Theme; text: string }[] = [
  { value: 'system', text: 'Auto' },
  { value: 'light', text: 'Light' },
  { value: 'dark', text: 'Dark' },
];

/** Who is signed in, and how the console looks to them. */
export function SessionItems({ nodes, close }: { nodes: ClusterNodes | null; close: () => void }) {
  const theme = useStore(preferences.theme);
  const hasToken = useStore(session.hasToken);
  const hasKeyboard = !useMedia('(pointer: coarse)');
  const self = nodes?.nodes.find(({ isSelf }) => isSelf);
  return (
    <>
      <p class="menu-head">
        <WhoAmI />
        {self && (
          <>
            {' · via '}
            <a href={viewUrl(nodeView(self.id))} onClick={close}>
              {self.id}
            </a>
          </>
        )}
      </p>
      <div class="dim wraps col menu-part">
        <Segments label="Theme" value={theme} choices={THEMES} onChange={(value) => preferences.theme.set(value)} />
        <ZoneField />
      </div>
      <hr />
      {hasKeyboard && (
        <MenuItem
          icon="keys"
          note="?"
          onClick={() => {
            close();
            sheet.set('keys');
          }}
        >
          Keys
        </MenuItem>
      )}
      <MenuItem icon="file" href={linkTo('/docs')}>
        API
      </MenuItem>
      <MenuItem
        icon="sign-out"
        onClick={() => {
          close();
          if (hasToken) signOut();
          else session.openTokenDialog();
        }}
      >
        {hasToken ? 'Sign out' : 'Enter a token'}
      </MenuItem>
    </>
  );
}

/** The name and the roles by which the node knows the user. */
function WhoAmI() {
  const hasToken = useStore(session.hasToken);
  const me = useResource(whoAmI).value;
  if (!me) return hasToken ? 'Signed in with a token' : 'Not signed in';
  if (me.kind === 'anonymous') return 'No sign-in required';
  return (
    <>
      <b>{visibleText(me.name)}</b> · {me.roles.join(', ') || 'no role'}
    </>
  );
}

/** Nothing of what was read stays on the page, and nothing goes on being read. */
function signOut(): void {
  session.signOut();
  location.reload();
}

/** The zone of all times: that of the browser, UTC, or any other by its name. */
export function ZoneField() {
  const zone = useStore(preferences.zone);
  const [typed, setTyped] = useState<string | null>(null);
  const listId = useId();
  const isNamed = zone !== 'local' && zone !== 'utc';
  const take = (text: string) => {
    setTyped(text);
    if (text.includes('/') && isZone(text)) preferences.zone.set(text);
  };
  return (
    <div class="field">
      <span>Times in {zoneLabel(zone, Date.now())}</span>
      <Segments
        label="Time zone"
        value={isNamed || typed !== null ? 'other' : zone}
        choices={[
          { value: 'local', text: 'Browser' },
          { value: 'utc', text: 'UTC' },
          { value: 'other', text: 'Other' },
        ]}
        onChange={(value) => {
          setTyped(value === 'other' ? '' : null);
          if (value !== 'other') preferences.zone.set(value);
        }}
      />
      {isNamed || typed !== null ? (
        <>
          <TextInput
            aria-label="Name of the time zone"
            placeholder="Europe/Berlin"
            list={listId}
            value={typed ?? zone}
            onText={take}
          />
          <datalist id={listId}>
            {zoneNames().map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      ) : null}
    </div>
  );
}
