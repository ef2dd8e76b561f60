import { useState } from 'react';
import { useFleet } from '../../../data/use-fleet.ts';
import { useWrite } from '../../../data/use-write.ts';
import type { WriteState } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField, TextField } from '../../../parts/form.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { shownZone } from '../../../parts/times.ts';
import { WriteForm } from '../../../parts/write-form.tsx';
import { useAll } from '../directory.ts';
import { EMPTY_SILENCE, LENGTHS, SCOPES, missingIn, silenceOf } from './silence-form.ts';
import type { Scope, SilenceDraft } from './silence-form.ts';
import type { SilencesSearch } from './search.ts';
import { SILENCES } from './use-silences.ts';
import { words } from './words.ts';
import { serverNow } from '../../../data/server-clock.ts';

/** Silences a router, a site or the whole team. */
export function NewSilence({ router, site, onClose }: SilencesSearch & { onClose: () => void }) {
  const scope: Scope = router !== undefined ? 'router' : site !== undefined ? 'site' : 'router';
  const [draft, setDraft] = useState<SilenceDraft>({ ...EMPTY_SILENCE, scope, routerId: router ?? '', siteId: site ?? '' });
  const write = useWrite('createSilence', [SILENCES]);
  const change = (changed: Partial<SilenceDraft>): void => setDraft((before) => ({ ...before, ...changed }));
  const missing = missingIn(draft);
  // Of a router or site that is chosen already, only the reason is asked.
  const first = router === undefined && site === undefined ? {} : { 'data-autofocus': true };
  return (
    <Dialog title={words.dialog.title} onClose={onClose}>
      <WriteForm
        write={write}
        input={() => ({ body: silenceOf(draft, serverNow()) })}
        action={words.dialog.act}
        fields={['router_id', 'site_id', 'from', 'until', 'reason']}
        isReady={missing.length === 0}
        onCancel={onClose}
        onDone={onClose}
      >
        <SelectField
          label={words.dialog.what}
          name="scope"
          value={draft.scope}
          onChange={(kind) => change({ scope: kind })}
          options={SCOPES}
        />
        <Place draft={draft} change={change} state={write.state} />
        <SelectField
          label={words.dialog.for}
          name="until"
          value={draft.length}
          onChange={(length) => change({ length })}
          options={LENGTHS}
          state={write.state}
          hint={words.dialog.forHint}
        />
        <TextField
          label={words.dialog.from}
          name="from"
          value={draft.from}
          onChange={(from) => change({ from })}
          hint={words.dialog.fromHint(shownZone())}
          state={write.state}
          input={{ type: 'datetime-local' }}
        />
        <TextField
          label={words.dialog.why}
          name="reason"
          value={draft.reason}
          onChange={(reason) => change({ reason })}
          hint={words.dialog.whyHint}
          state={write.state}
          input={{ autoComplete: 'off', maxLength: 500, ...first }}
        />
        <p className="hint" role="status">
          {missing.map((what) => words.dialog.missing[what]).join(' ')}
        </p>
      </WriteForm>
    </Dialog>
  );
}

interface PlaceProps {
  draft: SilenceDraft;
  change: (changed: Partial<SilenceDraft>) => void;
  state: WriteState;
}

function Place({ draft, change, state }: PlaceProps) {
  const { routers } = useFleet();
  const { data: sites, error } = useAll('sites', 'listSites');
  switch (draft.scope) {
    case 'router':
      return (
        <SelectField
          label={words.dialog.router}
          name="router_id"
          value={draft.routerId}
          onChange={(routerId) => change({ routerId })}
          options={[
            { value: '', name: words.dialog.chooseRouter },
            ...routers.values().map(({ id, identity }) => ({ value: id, name: identity })),
          ]}
          state={state}
        />
      );
    case 'site':
      if (sites === undefined) return error ? <ReadingFailed error={error} what={words.dialog.sites} /> : <Reading />;
      return (
        <SelectField
          label={words.dialog.site}
          name="site_id"
          value={draft.siteId}
          onChange={(siteId) => change({ siteId })}
          options={[{ value: '', name: words.dialog.chooseSite }, ...sites.map(({ id, name }) => ({ value: id, name }))]}
          hint={words.dialog.siteHint}
          state={state}
        />
      );
    case 'team':
      return null;
  }
}
