import '../../settings/settings.css';
import '../notifications.css';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useFleet } from '../../../data/use-fleet.ts';
import { PageHead } from '../../../parts/page-head.tsx';
import { Section } from '../../../parts/section.tsx';
import { MeTabs } from '../../settings/me/me-tabs.tsx';
import { AddContact } from './add-contact.tsx';
import { Contacts } from './contacts.tsx';
import { Left } from './left.tsx';
import { ProveContact } from './prove-contact.tsx';
import { Settings } from './settings.tsx';
import { ProveTelegram } from './telegram-proof.tsx';
import { ThisBrowser } from './this-browser.tsx';
import type { Contact } from '../../../../../client/browser.ts';
import { Unconfigured } from '../unconfigured.tsx';
import { words } from './words.ts';

/** Where and when the person who is signed in is told. Nobody else can change it. */
export function OwnNotificationsPage() {
  const { me } = useFleet();
  const [asked, setAsked] = useState<'add' | Contact>();
  const close = () => setAsked(undefined);
  return (
    <>
      <MeTabs />
      <PageHead
        crumb={<Link to="/notifications/groups">{words.back}</Link>}
        title={words.title}
        note={words.note}
        actions={
          <button type="button" className="btn main-act" onClick={() => setAsked('add')}>
            {words.add}
          </button>
        }
      />
      <Unconfigured channel="email" />
      <div className="sections">
        <Section title={words.contacts.title}>
          <Contacts onProve={setAsked} />
        </Section>
        <Section title={words.browser.title}>
          <ThisBrowser />
        </Section>
        <Section title={words.settings.title}>
          <Settings />
        </Section>
        <Section title={words.left.title(me.team.name)}>
          <Left />
        </Section>
      </div>
      {asked === 'add' ? <AddContact onClose={close} onAdded={setAsked} /> : null}
      {asked === undefined || asked === 'add' ? null : <Prove contact={asked} onClose={close} />}
    </>
  );
}

function Prove({ contact, onClose }: { contact: Contact; onClose: () => void }) {
  if (contact.channel === 'telegram') return <ProveTelegram onClose={onClose} />;
  return <ProveContact contact={contact} onClose={onClose} />;
}
