import { Link } from '@tanstack/react-router';
import { useFleet } from '../../../data/use-fleet.ts';
import { useList } from '../../../data/use-list.ts';
import { CopyLine } from '../../../parts/copy.tsx';
import { ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { SettingsPage } from '../settings-page.tsx';

/** What the team is, and where programs find it. */
export function TeamPage() {
  const { me } = useFleet();
  const { records: members, hasMore, isFirst, error } = useList('members', 'listMembers', { query: { limit: 200 } });
  const active = members.filter(({ active: isActive }) => isActive);
  const admins = active.filter(({ role }) => role === 'admin').map(({ email }) => email);
  return (
    <SettingsPage name="Team" note={`${me.team.name} is one team on this control plane: nothing of it is seen by the others.`}>
      <dl className="facts">
        <Fact name="Name">{me.team.name}</Fact>
        <Fact name="Id">
          <span className="id">{me.team.id}</span>
        </Fact>
        {isFirst || members.length === 0 ? null : (
          <>
            <Fact name="Members">
              <Link to="/settings/members" className="hand under">
                {active.length}
                {hasMore ? ' or more' : ''} active
              </Link>
            </Fact>
            <Fact name="Administrators">{admins.join(', ')}</Fact>
          </>
        )}
      </dl>
      {error && members.length === 0 ? <ReadingFailed error={error} what="Members" /> : null}
      <Section title="For programs">
        <dl className="facts addresses">
          <Fact name="API">
            <CopyLine text={location.origin} label="the address of the API" />
          </Fact>
          <Fact name="OpenAPI document">
            <CopyLine text={`${location.origin}/openapi.json`} label="the address of the OpenAPI document" />
          </Fact>
          <Fact name="OpenID discovery">
            <CopyLine text={`${location.origin}/oidc/.well-known/openid-configuration`} label="the address of the discovery document" />
          </Fact>
        </dl>
      </Section>
    </SettingsPage>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="line fact">
      <dt className="faint">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
