import { useState } from 'react';
import type { Site } from '../../../../../client/browser.ts';
import { useWrite } from '../../../data/use-write.ts';
import { changedFields } from '../../../parts/changed.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Outcome, TextField } from '../../../parts/form.tsx';
import { degreesOf } from '../../../parts/number-of.ts';
import { words } from './words.ts';

/** Makes a site, or changes one. */
export function SiteDialog({ site, onClose }: { site?: Site; onClose: () => void }) {
  const [name, setName] = useState(site?.name ?? '');
  const [zone, setZone] = useState(site?.time_zone ?? '');
  const [latitude, setLatitude] = useState(String(site?.latitude ?? ''));
  const [longitude, setLongitude] = useState(String(site?.longitude ?? ''));
  const values = { name, time_zone: zone === '' ? null : zone, latitude: degreesOf(latitude), longitude: degreesOf(longitude) };
  const [first] = useState(values);
  const stale = ['sites', 'router', 'availability'];
  const create = useWrite('createSite', stale);
  const change = useWrite('changeSite', stale);
  const write = site ? change : create;
  async function answered(result: Promise<unknown>): Promise<void> {
    if ((await result) !== undefined) onClose();
  }
  function submit(): void {
    void answered(site ? change.send({ path: { site_id: site.id }, body: changedFields(first, values) }) : create.send({ body: values }));
  }
  const { state } = write;
  return (
    <Dialog title={site ? words.dialog.change(site.name) : words.dialog.add} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextField label={words.dialog.name} name="name" value={name} onChange={setName} state={state} />
        <TextField label={words.dialog.zone} name="time_zone" value={zone} onChange={setZone} state={state} hint={words.dialog.zoneHint} />
        <TextField
          label={words.dialog.latitude}
          name="latitude"
          value={latitude}
          onChange={setLatitude}
          state={state}
          hint={words.dialog.latitudeHint}
        />
        <TextField
          label={words.dialog.longitude}
          name="longitude"
          value={longitude}
          onChange={setLongitude}
          state={state}
          hint={words.dialog.longitudeHint}
        />
        <Outcome
          state={state}
          fields={['name', 'time_zone', 'latitude', 'longitude']}
          onLookAgain={() => void answered(write.lookAgain())}
        />
        <div className="form-acts">
          <button type="button" className="btn" onClick={onClose}>
            {words.dialog.cancel}
          </button>
          <button type="submit" className="btn main-act" disabled={state.kind === 'sending'}>
            {site ? words.dialog.save : words.dialog.make}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
