import { useState } from 'react';
import type { Site } from '../../../../../client/browser.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Outcome, TextField } from '../../../parts/form.tsx';
import { degreesOf } from '../../../parts/number-of.ts';

/** Makes a site, or changes one. */
export function SiteDialog({ site, onClose }: { site?: Site; onClose: () => void }) {
  const [name, setName] = useState(site?.name ?? '');
  const [zone, setZone] = useState(site?.time_zone ?? '');
  const [latitude, setLatitude] = useState(String(site?.latitude ?? ''));
  const [longitude, setLongitude] = useState(String(site?.longitude ?? ''));
  const stale = ['sites', 'router', 'availability'];
  const create = useWrite('createSite', stale);
  const change = useWrite('changeSite', stale);
  const write = site ? change : create;
  async function answered(result: Promise<unknown>): Promise<void> {
    if ((await result) !== undefined) onClose();
  }
  function submit(): void {
    const body = { name, time_zone: zone === '' ? null : zone, latitude: degreesOf(latitude), longitude: degreesOf(longitude) };
    void answered(site ? change.send({ path: { site_id: site.id }, body }) : create.send({ body }));
  }
  const { state } = write;
  return (
    <Dialog title={site ? `Change ${site.name}` : 'Add a site'} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextField label="Name" name="name" value={name} onChange={setName} state={state} />
        <TextField
          label="Time zone"
          name="time_zone"
          value={zone}
          onChange={setZone}
          state={state}
          hint="As Europe/Riga. Days of its availability begin there."
        />
        <TextField
          label="Latitude"
          name="latitude"
          value={latitude}
          onChange={setLatitude}
          state={state}
          hint="Degrees, north is positive"
        />
        <TextField
          label="Longitude"
          name="longitude"
          value={longitude}
          onChange={setLongitude}
          state={state}
          hint="Degrees, east is positive"
        />
        <Outcome
          state={state}
          fields={['name', 'time_zone', 'latitude', 'longitude']}
          onLookAgain={() => void answered(write.lookAgain())}
        />
        <div className="form-acts">
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn main-act" disabled={state.kind === 'sending'}>
            {site ? 'Save' : 'Add the site'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
