import '../settings.css';
import { useState } from 'react';
import { useFleet } from '../../../data/use-fleet.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { Section } from '../../../parts/section.tsx';
import { useSession } from '../../../session/use-session.ts';
import { WHAT_ENDS } from '../words.ts';
import { Choices } from './choices.tsx';
import { MeTabs } from './me-tabs.tsx';
import { Password } from './password.tsx';
import { words } from './words.ts';

/** The person who is signed in. */
export function MePage() {
  const { me } = useFleet();
  const session = useSession();
  return (
    <>
      <MeTabs />
      <PageHead
        title={me.email ?? me.id}
        note={words.note(me.team.name, me.role)}
        actions={
          <button type="button" className="btn" onClick={() => void session.signOut()}>
            {words.signOut}
          </button>
        }
      />
      <div className="sections settings-form">
        <Section title={words.look.title}>
          <Choices />
        </Section>
        <Section title={words.session.title}>
          <p className="prose-block">{words.session.about}</p>
          <p className="prose-block">{words.session.team(me.team.name)}</p>
        </Section>
        <Section title={words.password.title}>
          <Password />
        </Section>
        <Section title={words.leave.title(me.team.name)}>
          <Leave />
        </Section>
      </div>
    </>
  );
}

function Leave() {
  const { me } = useFleet();
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <p className="prose-block">{words.leave.about}</p>
      <button type="button" className="btn" onClick={() => setAsked(true)}>
        {words.leave.act}
      </button>
      {isAsked ? (
        <Confirm
          title={words.leave.confirm(me.team.name)}
          action={words.leave.act}
          typed={me.team.name}
          operation="leaveTeam"
          input={{}}
          stale={[]}
          onClose={() => setAsked(false)}
          onDone={() => location.replace('/')}
        >
          <p>
            {words.leave.ends} {WHAT_ENDS}
          </p>
          <p>{words.leave.stays}</p>
        </Confirm>
      ) : null}
    </>
  );
}
