import { absenceText, coverageOf } from '@porthole/contract';
import { preferences } from '../state/preferences.ts';
import { viewUrl } from '../state/view-url.ts';
import { formatCounted, formatSecond, formatShortTime } from '../ui/format.ts';
import { type Loaded, useStore } from '../ui/hooks.ts';
import { Icon } from '../ui/icon.tsx';
import { CardList, LoadedCard } from '../ui/loaded-card.tsx';
import { eventClass, groupEvents, incidentAround } from './event-text.ts';
import type { LoadedEvents } from './load-events.ts';

interface EventsCardProps {
  title: string;
  events: Loaded<LoadedEvents>;
  /** At most so many are listed. */
  most: number;
  /** Nodes whose absence the page has named already. */
  known: readonly string[];
  labels: readonly string[];
  /** Short names of nodes; without them, all events are of one node, which the page names. */
  names?: ReadonlyMap<string, string>;
}

const DAY_MS = 86_400_000;

/** What happened, newest first; each leads to what happened around it. */
export function EventsCard({ title, events, most, known, labels, names }: EventsCardProps) {
  const zone = useStore(preferences.zone);
  const timeText = (timeMs: number) =>
    Date.now() - timeMs < DAY_MS ? formatSecond(timeMs, zone) : formatShortTime(timeMs, zone, Date.now());
  return (
    <LoadedCard id="events-title" title={title} loaded={events} what="The events" known={known}>
      {(value) => {
        const all = groupEvents(value.events);
        return (
          <>
            <CardList
              items={all}
              most={most}
              kind="event"
              keyOf={({ key }) => key}
              hrefOf={({ timeMs }) => viewUrl(incidentAround(timeMs, labels))}
              more={(count) => `${formatCounted(count, 'earlier event')}.`}
            >
              {(event) => (
                <>
                  <span class="fixed mono faint">{timeText(event.timeMs)}</span>
                  <span class={`fixed ${eventClass(event)}`}>
                    <Icon name={event.icon} />
                  </span>
                  <span class="grow wraps">
                    {names && <b>{nodesText(event.nodes, names)}</b>} {event.title}
                    {event.detail && (
                      <span class={`dim event-detail ${event.kind === 'config-changed' ? 'mono' : ''}`}>
                        {event.detail}
                      </span>
                    )}
                  </span>
                </>
              )}
            </CardList>
            {all.length === 0 && (
              <p class="dim wraps card-note">
                {absenceText('No restart, change or loss in this time', coverageOf(value))}.
              </p>
            )}
          </>
        );
      }}
    </LoadedCard>
  );
}

function nodesText(ids: readonly string[], names: ReadonlyMap<string, string>): string {
  return ids.length <= 2 ? ids.map((id) => names.get(id) ?? id).join(', ') : `${ids.length} nodes`;
}
