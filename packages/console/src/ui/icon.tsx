import * as lucide from 'lucide';
import { h } from 'preact';

/** The icons of the console, by what they stand for here. */
const ICONS = {
  account: lucide.CircleUserRound,
  alert: lucide.TriangleAlert,
  certificate: lucide.ShieldAlert,
  check: lucide.Check,
  clock: lucide.Clock,
  close: lucide.X,
  columns: lucide.Columns3,
  compare: lucide.GitCompareArrows,
  config: lucide.Settings2,
  configuration: lucide.SlidersHorizontal,
  copy: lucide.Copy,
  count: lucide.ChartColumn,
  disk: lucide.HardDrive,
  down: lucide.ArrowDown,
  download: lucide.Download,
  exclude: lucide.CircleMinus,
  facets: lucide.ListFilter,
  file: lucide.FileText,
  flame: lucide.Flame,
  gone: lucide.PowerOff,
  include: lucide.CirclePlus,
  incidents: lucide.Siren,
  joined: lucide.Plug,
  keys: lucide.Keyboard,
  link: lucide.Link,
  logs: lucide.ScrollText,
  menu: lucide.Menu,
  nodes: lucide.Server,
  open: lucide.ChevronDown,
  overview: lucide.LayoutDashboard,
  pause: lucide.Pause,
  pin: lucide.Pin,
  restart: lucide.RotateCw,
  rise: lucide.TrendingUp,
  search: lucide.Search,
  share: lucide.Share2,
  shut: lucide.ChevronRight,
  'sign-out': lucide.LogOut,
  silent: lucide.VolumeX,
  spread: lucide.Waypoints,
  terminal: lucide.SquareTerminal,
  up: lucide.ArrowUp,
  views: lucide.Bookmark,
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
