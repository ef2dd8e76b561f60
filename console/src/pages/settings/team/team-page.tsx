import { Link } from '@tanstack/react-router';
import { useFleet } from '../../../data/use-fleet.ts';
import { useList } from '../../../data/use-list.ts';
import { CopyLine } from '../../../parts/copy.tsx';
import { ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { words as settingsWords } from '../words.ts';
import { words } from './words.ts';

/** What the team is, and where programs find it. */
export function TeamPage() {
  const { me } = useFleet();
  const { records: members, hasMore, isFirst, error } = useList('members', 'listMembers', { query: { limit: 200 } });
  const active = members.filter(({ active: isActive }) => isActive);
  const admins = active.filter(({ role }) => role === 'admin').map(({ email }) => email);
  return (
    <SettingsPage name={settingsWords.part.team} note={words.note(me.team.name)}>
      <dl className="facts">
        <Fact name={words.name}>{me.team.name}</Fact>
        <Fact name={words.id}>
          <span className="id">{me.team.id}</span>
        </Fact>
        {isFirst || members.length === 0 ? null : (
          <>
            <Fact name={words.members}>
              <Link to="/settings/members" className="hand under">
                {words.active(active.length, hasMore)}
              </Link>
            </Fact>
            <Fact name={words.admins}>{admins.join(', ')}</Fact>
          </>
        )}
      </dl>
      {error && members.length === 0 ? <ReadingFailed error={error} what={words.members} /> : null}
      <Section title={words.programs.title}>
        <dl className="facts addresses">
          <Fact name={words.programs.api}>
            <CopyLine text={location.origin} label={words.programs.apiCopied} />
          </Fact>
          <Fact name={words.programs.document}>
            <CopyLine text={`${location.origin}/openapi.json`} label={words.programs.documentCopied} />
          </Fact>
          <Fact name={words.programs.discovery}>
            <CopyLine text={`${location.origin}/oidc/.well-known/openid-configuration`} label={words.programs.discoveryCopied} />
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
