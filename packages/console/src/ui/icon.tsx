import ArrowDown from 'lucide/dist/esm/icons/arrow-down.mjs';
import ArrowUp from 'lucide/dist/esm/icons/arrow-up.mjs';
import Bookmark from 'lucide/dist/esm/icons/bookmark.mjs';
import ChartColumn from 'lucide/dist/esm/icons/chart-column.mjs';
import Check from 'lucide/dist/esm/icons/check.mjs';
import ChevronDown from 'lucide/dist/esm/icons/chevron-down.mjs';
import ChevronRight from 'lucide/dist/esm/icons/chevron-right.mjs';
import CircleMinus from 'lucide/dist/esm/icons/circle-minus.mjs';
import CirclePlus from 'lucide/dist/esm/icons/circle-plus.mjs';
import CircleUserRound from 'lucide/dist/esm/icons/circle-user-round.mjs';
import Clock from 'lucide/dist/esm/icons/clock.mjs';
import Columns from 'lucide/dist/esm/icons/columns-3.mjs';
import Copy from 'lucide/dist/esm/icons/copy.mjs';
import Download from 'lucide/dist/esm/icons/download.mjs';
import FileText from 'lucide/dist/esm/icons/file-text.mjs';
import Flame from 'lucide/dist/esm/icons/flame.mjs';
import GitCompare from 'lucide/dist/esm/icons/git-compare-arrows.mjs';
import HardDrive from 'lucide/dist/esm/icons/hard-drive.mjs';
import Keyboard from 'lucide/dist/esm/icons/keyboard.mjs';
import Layout from 'lucide/dist/esm/icons/layout-dashboard.mjs';
import Link from 'lucide/dist/esm/icons/link.mjs';
import Filter from 'lucide/dist/esm/icons/list-filter.mjs';
import LogOut from 'lucide/dist/esm/icons/log-out.mjs';
import Menu from 'lucide/dist/esm/icons/menu.mjs';
import Pause from 'lucide/dist/esm/icons/pause.mjs';
import Pin from 'lucide/dist/esm/icons/pin.mjs';
import Plug from 'lucide/dist/esm/icons/plug.mjs';
import PowerOff from 'lucide/dist/esm/icons/power-off.mjs';
import RotateCw from 'lucide/dist/esm/icons/rotate-cw.mjs';
import ScrollText from 'lucide/dist/esm/icons/scroll-text.mjs';
import Search from 'lucide/dist/esm/icons/search.mjs';
import Server from 'lucide/dist/esm/icons/server.mjs';
import Settings from 'lucide/dist/esm/icons/settings-2.mjs';
import Share from 'lucide/dist/esm/icons/share-2.mjs';
import ShieldAlert from 'lucide/dist/esm/icons/shield-alert.mjs';
import Siren from 'lucide/dist/esm/icons/siren.mjs';
import Sliders from 'lucide/dist/esm/icons/sliders-horizontal.mjs';
import Terminal from 'lucide/dist/esm/icons/square-terminal.mjs';
import TrendingUp from 'lucide/dist/esm/icons/trending-up.mjs';
import TriangleAlert from 'lucide/dist/esm/icons/triangle-alert.mjs';
import VolumeX from 'lucide/dist/esm/icons/volume-x.mjs';
import Waypoints from 'lucide/dist/esm/icons/waypoints.mjs';
import X from 'lucide/dist/esm/icons/x.mjs';
import { h } from 'preact';

/** The icons of the console, by what they stand for here. */
const ICONS = {
  account: CircleUserRound,
  alert: TriangleAlert,
  certificate: ShieldAlert,
  check: Check,
  clock: Clock,
  close: X,
  columns: Columns,
  compare: GitCompare,
  config: Settings,
  configuration: Sliders,
  copy: Copy,
  count: ChartColumn,
  disk: HardDrive,
  down: ArrowDown,
  download: Download,
  exclude: CircleMinus,
  facets: Filter,
  file: FileText,
  flame: Flame,
  gone: PowerOff,
  include: CirclePlus,
  incidents: Siren,
  joined: Plug,
  keys: Keyboard,
  link: Link,
  logs: ScrollText,
  menu: Menu,
  nodes: Server,
  open: ChevronDown,
  overview: Layout,
  pause: Pause,
  pin: Pin,
  restart: RotateCw,
  rise: TrendingUp,
  search: Search,
  share: Share,
  shut: ChevronRight,
  'sign-out': LogOut,
  silent: VolumeX,
  spread: Waypoints,
  terminal: Terminal,
  up: ArrowUp,
  views: Bookmark,
} as const;

export type IconName = keyof typeof ICONS;

export const ICON_NAMES = Object.keys(ICONS) as IconName[];

/** Only decoration: what it means is said beside it, or by the label of its button. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {ICONS[name].map(([tag, attributes], index) => h(tag, { key: index, ...attributes }))}
    </svg>
  );
}
