import '../settings/settings.css';
import './notifications.css';
import { linkOptions } from '@tanstack/react-router';
import { PageHead } from '../../parts/page-head.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Unconfigured } from './unconfigured.tsx';
import { words } from './words.ts';

const PARTS = [
  { name: words.part.groups, link: linkOptions({ to: '/notifications/groups' }) },
  { name: words.part.threads, link: linkOptions({ to: '/notifications/threads', search: {} }) },
  { name: words.part.log, link: linkOptions({ to: '/notifications/log', search: {} }) },
  { name: words.part.why, link: linkOptions({ to: '/notifications/explain', search: {} }) },
  { name: words.part.channels, link: linkOptions({ to: '/notifications/channels' }) },
  { name: words.part.topics, link: linkOptions({ to: '/notifications/topics' }) },
  { name: words.part.schedules, link: linkOptions({ to: '/notifications/schedules' }) },
  { name: words.part.silences, link: linkOptions({ to: '/notifications/silences', search: {} }) },
  { name: words.part.own, link: linkOptions({ to: '/me/notifications' }) },
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
      <Tabs label={words.tabs} tabs={PARTS} />
      <PageHead title={name} note={note} actions={actions} />
      <Unconfigured channel="email" />
      {isList ? children : <div className="sections">{children}</div>}
    </>
  );
}
