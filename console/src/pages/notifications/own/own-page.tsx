import '../../settings/settings.css';
import '../notifications.css';
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
import { ThisBrowser } from './this-browser.tsx';
import type { Contact } from '../../../../../client/browser.ts';

/** Where and when the person who is signed in is told. Nobody else can change it. */
export function OwnNotificationsPage() {
  const { me } = useFleet();
  const [asked, setAsked] = useState<'add' | Contact>();
  const close = () => setAsked(undefined);
  return (
    <>
      <MeTabs />
      <PageHead
        title="Where and when you are told"
        note="It holds in all your teams. Nobody else can change it, administrators neither."
        actions={
          <button type="button" className="btn main-act" onClick={() => setAsked('add')}>
            Add an address
          </button>
        }
      />
      <div className="sections">
        <Section title="Addresses">
          <Contacts onProve={setAsked} />
        </Section>
        <Section title="This browser">
          <ThisBrowser />
        </Section>
        <Section title="How and when">
          <Settings />
        </Section>
        <Section title={`What you have left in ${me.team.name}`}>
          <Left />
        </Section>
      </div>
      {asked === 'add' ? <AddContact onClose={close} onAdded={setAsked} /> : null}
      {asked === undefined || asked === 'add' ? null : <ProveContact contact={asked} onClose={close} />}
    </>
  );
}
