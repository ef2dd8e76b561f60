import type { Revocation } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Empty } from '../../../parts/empty.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { useNames } from '../../../data/use-names.ts';
import { SUBJECTS, reportOf } from './words.ts';

/** Which rights were taken away, what that ended, and what goes on. */
export function RevocationsPage() {
  return (
    <SettingsPage
      name="Revocations"
      note="When a right is taken away, what was opened with it ends. Here is what ended each time, and what goes on."
    >
      <Revocations />
    </SettingsPage>
  );
}

function Revocations() {
  const list = useList('revocations', 'listRevocations', { query: { limit: 100 } });
  const names = useNames();
  return (
    <ShortTable<Revocation>
      label="Revocations"
      list={list}
      keyOf={({ id }) => id}
      columns={[
        { title: 'When', width: '90px', cell: ({ created_at: at }) => <Moment at={at} /> },
        {
          title: 'What',
          width: 'minmax(160px, 1fr)',
          className: 'el',
          cell: ({ kind, subject_id: id }) => (
            <>
              <span className="dim">{SUBJECTS[kind]}</span> <b>{names(id)}</b>
            </>
          ),
        },
        { title: 'What it ended', width: 'minmax(200px, 2fr)', cell: (revocation) => reportOf(revocation) },
      ]}
      empty={
        <Empty title="Nothing was revoked yet.">
          Revoking a key, removing a member, a new password and revoking an agent are listed here, with what they ended.
        </Empty>
      }
    />
  );
}
