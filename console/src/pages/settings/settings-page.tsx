import './settings.css';
import { useList } from '../../data/use-list.ts';
import { useFleet } from '../../data/use-fleet.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { isFor, SETTINGS } from './settings-places.ts';

interface Props {
  /** One of the names in `SETTINGS`. */
  name: (typeof SETTINGS)[number]['name'];
  /** How it is now, in a sentence. */
  sentence?: React.ReactNode;
  /** What it is for, in a sentence. */
  note: React.ReactNode;
  actions?: React.ReactNode;
  children: React.ReactNode;
}

/** One part of the settings, with the others beside it. Who may not see it reads who may. */
export function SettingsPage({ name, sentence, note, actions, children }: Props) {
  const { me } = useFleet();
  const place = SETTINGS.find((setting) => setting.name === name)!;
  const isAllowed = isFor(place, me);
  return (
    <>
      <Tabs label="Settings" tabs={SETTINGS.filter((setting) => isFor(setting, me))} />
      <PageHead title={name} sentence={isAllowed ? sentence : undefined} note={note} actions={isAllowed ? actions : undefined} />
      {isAllowed ? <div className="sections">{children}</div> : <Refused place={place} />}
    </>
  );
}

function Refused({ place }: { place: (typeof SETTINGS)[number] }) {
  return 'isOfInstallation' in place ? <ForInstallation what={place.name} /> : <ForAdmins what={place.name} />;
}

/** No administrator of a team may give this right, so there is nobody here to ask. */
function ForInstallation({ what }: { what: string }) {
  const { me } = useFleet();
  return (
    <p className="empty">
      {what} are for administrators of the installation. Whoever runs the server makes you one there: signalbox user installation-admin{' '}
      {me.email}
    </p>
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
