import './settings.css';
import { useList } from '../../data/use-list.ts';
import { useFleet } from '../../data/use-fleet.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { isFor, SETTINGS } from './settings-places.ts';
import { words } from './words.ts';

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
      <Tabs label={words.tabs} tabs={SETTINGS.filter((setting) => isFor(setting, me))} />
      <PageHead title={name} sentence={isAllowed ? sentence : undefined} note={note} actions={isAllowed ? actions : undefined} />
      {isAllowed ? <div className="sections">{children}</div> : <Refused place={place} />}
    </>
  );
}

function Refused({ place }: { place: (typeof SETTINGS)[number] }) {
  return 'isOfInstallation' in place ? <ForInstallation /> : <ForAdmins what={words.thisPage} />;
}

/** No administrator of a team may give this right, so there is nobody here to ask. */
function ForInstallation() {
  const { me } = useFleet();
  return <p className="empty">{words.forInstallation(me.email)}</p>;
}

/** Said instead of something that only administrators may see or do. */
export function ForAdmins({ what }: { what: string }) {
  const { me } = useFleet();
  const { records } = useList('members', 'listMembers', {});
  const admins = records.filter(({ role, active }) => active && role === 'admin').map(({ email }) => email);
  return (
    <p className="empty">
      {words.forAdmins(what, me.team.name, me.role)}
      {admins.length === 0 ? null : ` ${words.ask(admins)}`}
    </p>
  );
}
