import { useState } from 'react';
import type { NewlyMadeEnrolToken } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { useWrite } from '../../../data/use-write.ts';
import { SelectField, TextField } from '../../../parts/form.tsx';
import { ReadingFailed } from '../../../parts/reading.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { words } from './words.ts';

/** Name and site of the new agent; the token carries the site. */
export function MakeToken({ onMade }: { onMade: (token: NewlyMadeEnrolToken, name: string) => void }) {
  const [name, setName] = useState('');
  const [site, setSite] = useState('');
  const { records: sites, error } = useList('sites', 'listSites', { query: { limit: 200 } });
  const write = useWrite('createEnrolToken', ['enrol-tokens']);
  return (
    <WriteForm
      write={write}
      input={() => ({ body: site === '' ? {} : { site_id: site } })}
      action={words.token.act}
      isReady={name.trim() !== ''}
      onDone={({ data }) => onMade(data, name.trim())}
    >
      <div className="two-fields">
        <TextField label={words.token.name} name="name" hint={words.token.nameHint} value={name} onChange={setName} />
        {sites.length === 0 && error ? <ReadingFailed error={error} what={words.token.sites} /> : null}
        {sites.length === 0 ? null : (
          <SelectField
            label={words.token.site}
            name="site_id"
            value={site}
            onChange={setSite}
            options={[{ value: '', name: words.token.noSite }, ...sites.map(({ id, name: title }) => ({ value: id, name: title }))]}
            state={write.state}
          />
        )}
      </div>
    </WriteForm>
  );
}
