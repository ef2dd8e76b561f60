import { useState } from 'react';
import type { Member, MemberChange } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { WHAT_ENDS } from '../words.ts';
import { ROLE_OPTIONS } from '../roles.ts';
import type { Ended, PersonalLink } from './types.ts';

interface Props {
  member: Member;
  onClose: () => void;
  onLink: (link: PersonalLink) => void;
  onEnded: (ended: Ended) => void;
}

type Asked = 'off' | 'remove' | 'password';

/** Everything an administrator does with one member. */
export function ChangeMember(props: Props) {
  const [asked, setAsked] = useState<Asked>();
  switch (asked) {
    case undefined:
      return <Choices {...props} onAsk={setAsked} />;
    case 'off':
      return <SwitchOff {...props} />;
    case 'remove':
      return <Remove {...props} />;
    case 'password':
      return <PasswordLink {...props} />;
  }
}

const STALE = ['members', 'invitations', 'revocations'];

function Choices({ member, onClose, onEnded, onAsk }: Props & { onAsk: (asked: Asked) => void }) {
  const { me } = useFleet();
  const [role, setRole] = useState(member.role);
  const change = useWrite('changeMember', STALE);
  const switchOn = useWrite('changeMember', STALE);
  const input = (body: MemberChange) => ({ path: { member_id: member.id }, body });
  const isSelf = member.id === me.id;
  return (
    <Dialog title={member.email} onClose={onClose}>
      <WriteForm
        write={change}
        input={() => input({ role })}
        action="Change role"
        fields={['role']}
        isReady={role !== member.role}
        onDone={({ data }) => {
          if (data.role === 'viewer') onEnded({ subjectId: member.id, title: `${member.email} is a viewer now` });
          onClose();
        }}
      >
        <SelectField
          label="Role"
          name="role"
          value={role}
          onChange={setRole}
          options={ROLE_OPTIONS}
          state={change.state}
          hint="Effective with the next request. A viewer keeps nothing open: their forwards, waiting jobs and campaigns end."
        />
      </WriteForm>
      <ul className="choices">
        {member.active ? (
          <Choice act="Switch off" says="Cannot sign in to this team until switched on again." onAct={() => onAsk('off')} />
        ) : (
          <li>
            <WriteForm write={switchOn} input={() => input({ active: true })} action="Switch on" isMain={false} onDone={onClose}>
              <p className="hint">May sign in again. What ended does not come back.</p>
            </WriteForm>
          </li>
        )}
        {isSelf ? (
          <li className="hint">Your own password, and leaving the team, are on your own page.</li>
        ) : (
          <>
            <Choice act="Make a password link" says="For somebody who lost their password." onAct={() => onAsk('password')} />
            <Choice act="Remove from the team" says="Also from groups of notifications." onAct={() => onAsk('remove')} />
          </>
        )}
      </ul>
    </Dialog>
  );
}

function Choice({ act, says, onAct }: { act: string; says: string; onAct: () => void }) {
  return (
    <li>
      <p className="hint">{says}</p>
      <button type="button" className="btn" onClick={onAct}>
        {act}
      </button>
    </li>
  );
}

function SwitchOff({ member, onClose, onEnded }: Props) {
  return (
    <Confirm
      title={`Switch off ${member.email}?`}
      action="Switch off"
      operation="changeMember"
      input={{ path: { member_id: member.id }, body: { active: false } }}
      stale={STALE}
      onClose={onClose}
      onDone={() => onEnded({ subjectId: member.id, title: `${member.email} is switched off` })}
    >
      <p>Their sessions in this team end, and invitations that they made. {WHAT_ENDS}</p>
    </Confirm>
  );
}

function Remove({ member, onClose, onEnded }: Props) {
  return (
    <Confirm
      title={`Remove ${member.email} from the team?`}
      action="Remove from the team"
      typed={member.email}
      operation="removeMember"
      input={{ path: { member_id: member.id } }}
      stale={STALE}
      onClose={onClose}
      onDone={() => onEnded({ subjectId: member.id, title: `${member.email} is removed` })}
    >
      <p>Their sessions in this team end, and invitations that they made. {WHAT_ENDS}</p>
      <p>API keys that they made stay: revoke those one by one.</p>
    </Confirm>
  );
}

function PasswordLink({ member, onClose, onLink }: Props) {
  return (
    <Confirm
      title={`Make a password link for ${member.email}?`}
      action="Make the link"
      operation="resetMemberPassword"
      input={{ path: { member_id: member.id } }}
      stale={STALE}
      onClose={onClose}
      onDone={({ data: { email, password_link: link } }) => onLink({ kind: 'password', email, url: link.url, expiresAt: link.expires_at })}
    >
      <p>
        Whoever has the link can set the password, once and for a day. When it is used, every session of the person ends, with what was
        opened in them.
      </p>
    </Confirm>
  );
}
