import type { Revocation } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Empty } from '../../../parts/empty.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { words as settingsWords } from '../words.ts';
import { useNames } from '../../../data/use-names.ts';
import { SUBJECTS, reportOf, words } from './words.ts';

/** Which rights were taken away, what that ended, and what goes on. */
export function RevocationsPage() {
  return (
    <SettingsPage name={settingsWords.part.revocations} note={words.note}>
      <Revocations />
    </SettingsPage>
  );
}

function Revocations() {
  const list = useList('revocations', 'listRevocations', { query: { limit: 100 } });
  const names = useNames();
  return (
    <ShortTable<Revocation>
      label={words.table}
      list={list}
      keyOf={({ id }) => id}
      columns={[
        { title: words.column.when, width: '90px', cell: ({ created_at: at }) => <Moment at={at} /> },
        {
          title: words.column.what,
          width: 'minmax(160px, 1fr)',
          className: 'el',
          cell: ({ kind, subject_id: id }) => (
            <>
              <span className="dim">{SUBJECTS[kind]}</span> <b>{nameOf(names(id))}</b>
            </>
          ),
        },
        { title: words.column.ended, width: 'minmax(200px, 2fr)', cell: (revocation) => reportOf(revocation) },
      ]}
      empty={<Empty title={words.empty.title}>{words.empty.text}</Empty>}
    />
  );
}

/** Of a key: what stands before it has called it a key. */
function nameOf(name: string): string {
  return name.replace(/^key /, '');
}
