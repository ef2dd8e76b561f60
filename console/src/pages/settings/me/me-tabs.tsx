import { linkOptions } from '@tanstack/react-router';
import { Tabs } from '../../../parts/tabs.tsx';

const PARTS = [
  { name: 'You', link: linkOptions({ to: '/me' }) },
  { name: 'Notifications', link: linkOptions({ to: '/me/notifications' }) },
] as const;

/** The parts of what a person sets for themselves. */
export function MeTabs() {
  return <Tabs label="You" tabs={PARTS} />;
}
