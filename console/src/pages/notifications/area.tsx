import '../settings/settings.css';
import './notifications.css';
import { linkOptions } from '@tanstack/react-router';
import { PageHead } from '../../parts/page-head.tsx';
import { Tabs } from '../../parts/tabs.tsx';

const PARTS = [
  { name: 'Groups', link: linkOptions({ to: '/notifications/groups' }) },
  { name: 'Channels', link: linkOptions({ to: '/notifications/channels' }) },
  { name: 'Topics', link: linkOptions({ to: '/notifications/topics' }) },
  { name: 'Schedules', link: linkOptions({ to: '/notifications/schedules' }) },
  { name: 'Silences', link: linkOptions({ to: '/notifications/silences', search: {} }) },
] as const;

interface Props {
  name: (typeof PARTS)[number]['name'];
  note: React.ReactNode;
  actions?: React.ReactNode;
  children: React.ReactNode;
}

/** One part of the notifications, with the others beside it. */
export function NotificationsArea({ name, note, actions, children }: Props) {
  return (
    <>
      <Tabs label="Notifications" tabs={PARTS} />
      <PageHead title={name} note={note} actions={actions} />
      <div className="sections">{children}</div>
    </>
  );
}
