import './settings.css';
import { useList } from '../../data/use-list.ts';
import { useFleet } from '../../data/use-fleet.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { hasRole } from '../../session/roles.ts';
import { SETTINGS } from './settings-places.ts';

interface Props {
  /** One of the names in `SETTINGS`. */
  name: (typeof SETTINGS)[number]['name'];
  /** What it is for, in a sentence. */
  note: React.ReactNode;
  actions?: React.ReactNode;
  children: React.ReactNode;
}

/** One part of the settings, with the others beside it. Who may not see it reads who may. */
export function SettingsPage({ name, note, actions, children }: Props) {
  const { me } = useFleet();
  const place = SETTINGS.find((setting) => setting.name === name)!;
  const isAllowed = hasRole(me.role, place.role);
  return (
    <>
      <Tabs label="Settings" tabs={SETTINGS.filter(({ role }) => hasRole(me.role, role))} />
      <PageHead title={name} note={note} actions={isAllowed ? actions : undefined} />
      {isAllowed ? <div className="sections">{children}</div> : <ForAdmins what={name} />}
    </>
  );
}

/** Said instead of something that only administrators may see or do. */
export function ForAdmins({ what }: { what: string }) {
  const { me } = useFleet();
  const { records } = useList('members', 'listMembers', {});
  const admins = records.filter(({ role, active }) => active && role === 'admin').map(({ email }) => email);
  return (
    <p className="empty">
      {what} is for administrators of {me.team.name}. You are {me.role === 'operator' ? 'an operator' : 'a viewer'}.
      {admins.length === 0 ? null : ` Ask ${admins.join(' or ')}.`}
    </p>
  );
}
