import { useState } from 'react';
import type { Member } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { WHAT_ENDS } from '../words.ts';
import { ROLE_OPTIONS } from '../roles.ts';
import type { Ended, PersonalLink } from './types.ts';
import { words } from './words.ts';

interface Props {
  member: Member;
  /** The only active administrator: the control plane would refuse to take that away. */
  isLast: boolean;
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

function Choices(props: Props & { onAsk: (asked: Asked) => void }) {
  const { me } = useFleet();
  const { member, isLast, onClose, onAsk } = props;
  return (
    <Dialog title={member.email} onClose={onClose}>
      {isLast ? <p className="prose">{words.change.last}</p> : <RoleForm {...props} />}
      <ul className="choices">
        {member.active ? null : <SwitchOn member={member} onClose={onClose} />}
        {member.active && !isLast ? <Choice act={words.change.off} says={words.change.offHint} onAct={() => onAsk('off')} /> : null}
        {member.id === me.id ? (
          <li className="hint">{words.change.self}</li>
        ) : (
          <>
            <Choice act={words.change.password} says={words.change.passwordHint} onAct={() => onAsk('password')} />
            {isLast ? null : <Choice act={words.change.remove} says={words.change.removeHint} onAct={() => onAsk('remove')} />}
          </>
        )}
      </ul>
    </Dialog>
  );
}

function RoleForm({ member, onClose, onEnded }: Props) {
  const [role, setRole] = useState(member.role);
  const change = useWrite('changeMember', STALE);
  return (
    <WriteForm
      write={change}
      input={() => ({ path: { member_id: member.id }, body: { role } })}
      action={words.change.act}
      fields={['role']}
      isReady={role !== member.role}
      onDone={({ data }) => {
        if (data.role === 'viewer') onEnded({ subjectId: member.id, title: words.change.isViewer(member.email) });
        onClose();
      }}
    >
      <SelectField
        label={words.change.role}
        name="role"
        value={role}
        onChange={setRole}
        options={ROLE_OPTIONS}
        state={change.state}
        hint={words.change.roleHint}
      />
    </WriteForm>
  );
}

function SwitchOn({ member, onClose }: Pick<Props, 'member' | 'onClose'>) {
  const write = useWrite('changeMember', STALE);
  const input = () => ({ path: { member_id: member.id }, body: { active: true } });
  return (
    <li>
      <WriteForm write={write} input={input} action={words.change.on} isMain={false} onDone={onClose}>
        <p className="hint">{words.change.onHint}</p>
      </WriteForm>
    </li>
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
      title={words.off.title(member.email)}
      action={words.off.act}
      operation="changeMember"
      input={{ path: { member_id: member.id }, body: { active: false } }}
      stale={STALE}
      onClose={onClose}
      onDone={() => onEnded({ subjectId: member.id, title: words.off.done(member.email) })}
    >
      <p>
        {words.off.about} {WHAT_ENDS}
      </p>
    </Confirm>
  );
}

function Remove({ member, onClose, onEnded }: Props) {
  return (
    <Confirm
      title={words.remove.title(member.email)}
      action={words.remove.act}
      typed={member.email}
      operation="removeMember"
      input={{ path: { member_id: member.id } }}
      stale={STALE}
      onClose={onClose}
      onDone={() => onEnded({ subjectId: member.id, title: words.remove.done(member.email) })}
    >
      <p>
        {words.remove.about} {WHAT_ENDS}
      </p>
      <p>{words.remove.keys}</p>
    </Confirm>
  );
}

function PasswordLink({ member, onClose, onLink }: Props) {
  return (
    <Confirm
      title={words.password.title(member.email)}
      action={words.password.act}
      operation="resetMemberPassword"
      input={{ path: { member_id: member.id } }}
      stale={STALE}
      onClose={onClose}
      onDone={({ data: { email, password_link: link } }) => onLink({ kind: 'password', email, url: link.url, expiresAt: link.expires_at })}
    >
      <p>{words.password.about}</p>
    </Confirm>
  );
}
