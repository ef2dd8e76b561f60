import { linkOptions } from '@tanstack/react-router';
import { Tabs } from '../../../parts/tabs.tsx';
import { words } from './words.ts';

const PARTS = [
  { name: words.you, link: linkOptions({ to: '/me' }) },
  { name: words.notifications, link: linkOptions({ to: '/me/notifications' }) },
] as const;

/** The parts of what a person sets for themselves. */
export function MeTabs() {
  return <Tabs label={words.tabs} tabs={PARTS} />;
}
