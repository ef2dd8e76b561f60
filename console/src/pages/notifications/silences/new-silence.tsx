import { useState } from 'react';
import { useFleet } from '../../../data/use-fleet.ts';
import { useWrite } from '../../../data/use-write.ts';
import type { WriteState } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField, TextField } from '../../../parts/form.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { useAll } from '../directory.ts';
import { EMPTY_SILENCE, LENGTHS, SCOPES, silenceOf } from './silence-form.ts';
import type { Scope, SilenceDraft } from './silence-form.ts';
import type { SilencesSearch } from './search.ts';
import { SILENCES } from './use-silences.ts';

/** Silences a router, a site or the whole team. */
export function NewSilence({ router, site, onClose }: SilencesSearch & { onClose: () => void }) {
  const scope: Scope = router !== undefined ? 'router' : site !== undefined ? 'site' : 'router';
  const [draft, setDraft] = useState<SilenceDraft>({ ...EMPTY_SILENCE, scope, routerId: router ?? '', siteId: site ?? '' });
  const write = useWrite('createSilence', [SILENCES]);
  const change = (changed: Partial<SilenceDraft>): void => setDraft((before) => ({ ...before, ...changed }));
  const body = silenceOf(draft, Date.now());
  return (
    <Dialog title="Silence something" onClose={onClose}>
      <WriteForm
        write={write}
        input={() => ({ body: silenceOf(draft, Date.now())! })}
        action="Silence it"
        fields={['router_id', 'site_id', 'from', 'until', 'reason']}
        isReady={body !== undefined && draft.reason.trim() !== ''}
        onCancel={onClose}
        onDone={onClose}
      >
        <SelectField label="What" name="scope" value={draft.scope} onChange={(kind) => change({ scope: kind })} options={SCOPES} />
        <Place draft={draft} change={change} state={write.state} />
        <SelectField
          label="For"
          name="until"
          value={draft.length}
          onChange={(length) => change({ length })}
          options={LENGTHS}
          state={write.state}
          hint="It ends by itself, also when nobody remembers it. At most 90 days."
        />
        <TextField
          label="Beginning"
          name="from"
          value={draft.from}
          onChange={(from) => change({ from })}
          hint="Empty: at once. By the clock of this browser."
          state={write.state}
          input={{ type: 'datetime-local' }}
        />
        <TextField
          label="Why"
          name="reason"
          value={draft.reason}
          onChange={(reason) => change({ reason })}
          hint="Your team reads it: Change of the core switch"
          state={write.state}
          input={{ autoComplete: 'off', maxLength: 500, 'data-autofocus': true } as React.ComponentProps<'input'>}
        />
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
          label="Router"
          name="router_id"
          value={draft.routerId}
          onChange={(routerId) => change({ routerId })}
          options={[{ value: '', name: 'Choose one' }, ...routers.values().map(({ id, identity }) => ({ value: id, name: identity }))]}
          state={state}
        />
      );
    case 'site':
      if (sites === undefined) return error ? <ReadingFailed error={error} what="Sites" /> : <Reading />;
      return (
        <SelectField
          label="Site"
          name="site_id"
          value={draft.siteId}
          onChange={(siteId) => change({ siteId })}
          options={[{ value: '', name: 'Choose one' }, ...sites.map(({ id, name }) => ({ value: id, name }))]}
          hint="With every router that stands there"
          state={state}
        />
      );
    case 'team':
      return null;
  }
}
