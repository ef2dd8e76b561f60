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

/** What each role may do, to the person who has it. */
const MAY = {
  viewer: 'you see everything of the team and change nothing',
  operator: 'you also run commands and jobs, open forwards and take backups',
  admin: 'you also manage members, keys, agents and sites',
} as const;

/** The person who is signed in. */
export function MePage() {
  const { me } = useFleet();
  const session = useSession();
  return (
    <>
      <MeTabs />
      <PageHead
        title={me.email ?? me.id}
        note={`In ${me.team.name} you are ${me.role === 'viewer' ? 'a' : 'an'} ${me.role}: ${MAY[me.role]}.`}
        actions={
          <button type="button" className="btn" onClick={() => void session.signOut()}>
            Sign out
          </button>
        }
      />
      <div className="sections settings-form">
        <Section title="Look and times">
          <Choices />
        </Section>
        <Section title="Session">
          <p className="prose-block">
            You are signed in in this browser until you sign out or close it, and for 12 hours at most. A reload asks for nothing. Signing
            out ends this session only: forwards, jobs and campaigns of yours go on.
          </p>
          <p className="prose-block">
            {me.team.name} is the team that you chose when signing in. If you are in several, sign out and choose another one.
          </p>
        </Section>
        <Section title="Password">
          <Password />
        </Section>
        <Section title={`Leave ${me.team.name}`}>
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
      <p className="prose-block">You lose your role and what you have open here. An administrator can invite you again.</p>
      <button type="button" className="btn" onClick={() => setAsked(true)}>
        Leave the team
      </button>
      {isAsked ? (
        <Confirm
          title={`Leave ${me.team.name}?`}
          action="Leave the team"
          typed={me.team.name}
          operation="leaveTeam"
          input={{}}
          stale={[]}
          onClose={() => setAsked(false)}
          onDone={() => location.replace('/')}
        >
          <p>What you have opened in this team ends. {WHAT_ENDS}</p>
          <p>API keys that you made stay. The last administrator cannot leave.</p>
        </Confirm>
      ) : null}
    </>
  );
}
