import '../settings/settings.css';
import './notifications.css';
import { linkOptions } from '@tanstack/react-router';
import { PageHead } from '../../parts/page-head.tsx';
import { Tabs } from '../../parts/tabs.tsx';

const PARTS = [
  { name: 'Groups', link: linkOptions({ to: '/notifications/groups' }) },
  { name: 'Threads', link: linkOptions({ to: '/notifications/threads', search: {} }) },
  { name: 'Log', link: linkOptions({ to: '/notifications/log', search: {} }) },
  { name: 'Why', link: linkOptions({ to: '/notifications/explain', search: {} }) },
  { name: 'Channels', link: linkOptions({ to: '/notifications/channels' }) },
  { name: 'Topics', link: linkOptions({ to: '/notifications/topics' }) },
  { name: 'Schedules', link: linkOptions({ to: '/notifications/schedules' }) },
  { name: 'Silences', link: linkOptions({ to: '/notifications/silences', search: {} }) },
] as const;

interface Props {
  name: (typeof PARTS)[number]['name'];
  note: React.ReactNode;
  actions?: React.ReactNode;
  /** The list scrolls, not the page. */
  isList?: boolean;
  children: React.ReactNode;
}

/** One part of the notifications, with the others beside it. */
export function NotificationsArea({ name, note, actions, isList = false, children }: Props) {
  return (
    <>
      <Tabs label="Notifications" tabs={PARTS} />
      <PageHead title={name} note={note} actions={actions} />
      {isList ? children : <div className="sections">{children}</div>}
    </>
  );
}
