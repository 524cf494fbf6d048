import { absenceText, coverageOf } from '@porthole/contract';
import { preferences } from '../state/preferences.ts';
import type { Resource } from '../state/resource.ts';
import type { View, ZoneName } from '../state/view.ts';
import { viewUrl } from '../state/view-url.ts';
import { Card } from '../ui/controls.tsx';
import { formatCounted, formatSecond } from '../ui/format.ts';
import { useResource, useStore } from '../ui/hooks.ts';
import { Icon } from '../ui/icon.tsx';
import { PartialNote, ResourceNote } from '../ui/notes.tsx';
import { eventClass, groupEvents } from './event-text.ts';
import type { LoadedEvents } from './load-events.ts';

interface EventsCardProps {
  title: string;
  events: Resource<LoadedEvents>;
  /** At most so many are listed. */
  most: number;
  /** Nodes whose absence the page has named already. */
  known: readonly string[];
  /** What an event opens. */
  viewFor: (timeMs: number) => View;
}

type EventGroup = ReturnType<typeof groupEvents>[number];

/** What happened, newest first. */
export function EventsCard({ title, events, most, known, viewFor }: EventsCardProps) {
  const { value } = useResource(events);
  const zone = useStore(preferences.zone);
  const all = groupEvents(value?.events ?? []);
  return (
    <Card id="events-title" title={title}>
      <ResourceNote resource={events} what="The events" />
      <ul class="card-list">
        {all.slice(0, most).map((event) => (
          <li key={event.key}>
            <EventRow event={event} zone={zone} href={viewUrl(viewFor(event.timeMs))} />
          </li>
        ))}
      </ul>
      {value && all.length === 0 && (
        <p class="dim wraps card-note">{absenceText('No restart, change or loss in this time', coverageOf(value))}.</p>
      )}
      {all.length > most && <p class="dim wraps card-note">{formatCounted(all.length - most, 'earlier event')}.</p>}
      {value && <PartialNote answer={value} known={known} onRetry={() => events.reload()} />}
    </Card>
  );
}

function EventRow({ event, zone, href }: { event: EventGroup; zone: ZoneName; href: string }) {
  const { timeMs, nodes, title, detail, icon } = event;
  return (
    <a class="card-row event" href={href}>
      <span class="mono faint">{formatSecond(timeMs, zone)}</span>
      <span class={eventClass(event)}>
        <Icon name={icon} />
      </span>
      <span class="grow wraps">
        <b>{nodes.length <= 2 ? nodes.join(', ') : `${nodes.length} nodes`}</b> {title}
        {detail && <span class="dim event-detail">{detail}</span>}
      </span>
    </a>
  );
}
