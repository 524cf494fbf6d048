import { type ComponentChildren, createContext } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { showNotice } from '../../state/notice.ts';
import {
  Button,
  type ButtonProps,
  Card,
  Chip,
  Condition,
  IconButton,
  LinkButton,
  Segments,
  Skeleton,
  Tabs,
} from '../../ui/controls.tsx';
import { Dialog, Sheet } from '../../ui/dialog.tsx';
import { ICON_NAMES, Icon } from '../../ui/icon.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';

/* Every component of the design system in both themes; only in builds for development. */

const COLOURS = ['ink', 'dim', 'faint', 'accent', 'err', 'warn', 'ok', 'value'];

const SURFACES = ['bg', 'panel', 'sunk', 'accent-soft', 'err-soft', 'warn-soft', 'ok-soft', 'mark'];

const TONES = ['err', 'warn', 'ok', 'accent'] as const;

const Theme = createContext('light');

export function UiPage() {
  return (
    <div class="ui-themes">
      {['light', 'dark'].map((theme) => (
        <Theme.Provider key={theme} value={theme}>
          <section class="stack" data-theme={theme} aria-label={theme}>
            <h1>Components, {theme}</h1>
            <Words />
            <Controls />
            <Choices />
            <Fields />
            <Overlays />
            <States />
            <Table />
            <Part name="Icons">
              {ICON_NAMES.map((name) => (
                <span key={name} data-tip={name}>
                  <Icon name={name} />
                </span>
              ))}
            </Part>
          </section>
        </Theme.Provider>
      ))}
    </div>
  );
}

function Part({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <Card id={`${name}-${useContext(Theme)}`} title={name}>
      <div class="card-body flex wrap">{children}</div>
    </Card>
  );
}

function Words() {
  return (
    <>
      <Part name="Type">
        <h1>Headline 22/28</h1>
        <h2>Title 13/20, 600</h2>
        <p>
          Text 13/20 <span class="dim">dim</span> <span class="faint">faint</span> <a href="/ui">to this page</a>{' '}
          <code>mono 12</code> 0123456789 <kbd>Ctrl K</kbd>
        </p>
      </Part>
      <Part name="Colours">
        {[...COLOURS, ...Array.from({ length: 8 }, (_, index) => `node-${index + 1}`)].map((name) => (
          <span key={name} style={{ color: `var(--${name})` }}>
            <span class="dot" /> {name}
          </span>
        ))}
        {SURFACES.map((name) => (
          <span key={name} class="chip" style={{ background: `var(--${name})` }}>
            {name}
          </span>
        ))}
      </Part>
    </>
  );
}

const BUTTONS: readonly ButtonProps[] = [
  { class: 'is-primary', icon: 'incidents', children: 'What happened?' },
  { icon: 'share', children: 'Share' },
  { class: 'is-quiet', children: 'Quiet' },
  { class: 'is-live', children: 'Live' },
  { class: 'is-lost', children: 'Lost' },
  { disabled: true, children: 'Disabled' },
  { 'aria-pressed': true, children: 'Pressed' },
];

function Controls() {
  return (
    <Part name="Buttons">
      {BUTTONS.map((button, index) => (
        <Button key={index} {...button} />
      ))}
      <LinkButton>retry</LinkButton>
      <IconButton label="Copy link" icon="link" />
      <IconButton label="Match case" aria-pressed children="Aa" />
    </Part>
  );
}

function Choices() {
  const [segment, setSegment] = useState('all');
  const [tab, setTab] = useState('fields');
  const id = `ui-${useContext(Theme)}`;
  const choices = ['all', 'only'].map((value) => ({ value, text: `${value} matches` }));
  const tabs = ['fields', 'around', 'pattern'].map((value) => ({ value, text: value }));
  return (
    <Part name="Chips, segments and tabs">
      <Chip>fact</Chip>
      {TONES.map((tone) => (
        <Chip key={tone} tone={tone}>
          {tone}
        </Chip>
      ))}
      <ul class="chips">
        <Condition text="zone=eu-1" onRemove={() => showNotice('Removed')} />
      </ul>
      <Segments label="Show" value={segment} choices={choices} onChange={setSegment} />
      <Tabs label="Parts" id={id} value={tab} tabs={tabs} onChange={setTab} />
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${tab}`}>
        {tab}
      </div>
    </Part>
  );
}

function Fields() {
  return (
    <Part name="Fields">
      <label class="field">
        Name
        <input value="broker-1" />
      </label>
      <label class="field">
        Wrong
        <input aria-invalid="true" value="14:0" />
      </label>
      <input aria-label="Key or value" placeholder="Key or value" />
      <label class="choice">
        <input type="checkbox" checked /> Choice
      </label>
      <p class="field-problem">invalid time "14:0": expected 14:05 or 2h</p>
    </Part>
  );
}

function Overlays() {
  const [open, setOpen] = useState('');
  const close = () => setOpen('');
  return (
    <Part name="Overlays">
      <Menu button="Menu" side="left">
        {(done) => (
          <>
            <MenuItem icon="link" note="Y" onClick={done}>
              Copy link
            </MenuItem>
            <MenuItem isOn>Chosen</MenuItem>
            <hr />
            <MenuItem disabled>Disabled</MenuItem>
            <MenuItem onClick={done}>Last</MenuItem>
          </>
        )}
      </Menu>
      <Button tip="A tooltip" onClick={() => showNotice('Link copied')}>
        Toast
      </Button>
      <Button onClick={() => setOpen('dialog')}>Dialog</Button>
      <Button onClick={() => setOpen('sheet')}>Sheet</Button>
      <Dialog title="A dialog" isOpen={open === 'dialog'} onClose={close}>
        <p>It traps the focus, closes with Escape and restores the focus.</p>
        <div class="wrap dialog-buttons">
          <Button onClick={close}>Cancel</Button>
          <Button class="is-primary" onClick={close}>
            Go
          </Button>
        </div>
      </Dialog>
      <Sheet title="A sheet" side="right" isOpen={open === 'sheet'} onClose={close}>
        <p>From below on a phone.</p>
      </Sheet>
    </Part>
  );
}

function States() {
  return (
    <Part name="States">
      <p class="notice">
        <Icon name="alert" />
        <span>4 of 5 nodes responded · storage-3: no connection</span>
        <LinkButton>retry</LinkButton>
      </p>
      <p class="notice is-err">
        <Icon name="alert" />
        <span>
          <strong>The nodes could not be loaded.</strong> no response within 30 s
        </span>
      </p>
      <Skeleton height={20} />
      <span class="hatched">not read</span>
      <span class="spinner" />
    </Part>
  );
}

const ROWS = [
  ['broker-1', 'up', '0'],
  ['storage-1', 'up', '1,204'],
];

function Table() {
  return (
    <Card id={`table-${useContext(Theme)}`} title="Table" aside={<Chip tone="warn">1 key differs</Chip>}>
      <table class="data-table">
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">State</th>
            <th scope="col" class="number" children="Errors" />
          </tr>
        </thead>
        <tbody>
          {ROWS.map(([name, state, errors]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td data-name="State" class="ok" children={state} />
              <td data-name="Errors" class="number" children={errors} />
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}
