import './first.css';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NewlyMadeEnrolToken } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { CopyButton } from '../../../parts/copy.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { ForAdmins } from '../settings-page.tsx';
import { commandOf, configOf, newPassword, userLines } from './commands.ts';
import type { Place } from './commands.ts';
import { MakeToken } from './make-token.tsx';
import { Progress } from './progress.tsx';

/** What was made in the first step. */
interface Made {
  token: NewlyMadeEnrolToken;
  name: string;
  /** Milliseconds since 1970, by this computer. */
  at: number;
}

/** From nothing to the first answer of a router: one page, three steps, and what has happened so far. */
export function FirstRun() {
  const { me } = useFleet();
  const [made, setMade] = useState<Made>();
  const [place, setPlace] = useState<Place>('linux');
  const head = (
    <div className="head">
      <h1 className="say">
        <b>Connect an agent.</b> One machine near your routers calls this control plane; nothing calls it.
      </h1>
    </div>
  );
  if (me.role !== 'admin')
    return (
      <>
        {head}
        <ForAdmins what="Connecting an agent" />
      </>
    );
  return (
    <>
      {head}
      <div className="cols first-cols">
        <ol className="steps">
          <li>
            <h2>Where will it stand?</h2>
            {made === undefined ? (
              <MakeToken onMade={(token, name) => setMade({ token, name, at: Date.now() })} />
            ) : (
              <p>
                <b className="id">{made.name}</b>{' '}
                <button type="button" className="btn quiet sm" onClick={() => setMade(undefined)}>
                  Another one
                </button>
              </p>
            )}
          </li>
          <li>
            <h2>Make it a user on each router</h2>
            <RouterUser place={place} />
          </li>
          <li>
            <h2>Run this there</h2>
            {made === undefined ? (
              <p className="dim">The lines appear here, with a token that works once.</p>
            ) : (
              <Lines made={made} place={place} onPlace={setPlace} />
            )}
          </li>
          <li>
            <h2>{place === 'linux' ? 'More routers, whenever you like' : 'Tell it its routers'}</h2>
            <Routers place={place} name={made?.name} />
          </li>
        </ol>
        <Progress key={made?.token.id ?? ''} tokenId={made?.token.id} madeAt={made?.at} />
      </div>
    </>
  );
}

const PLACES: readonly { place: Place; name: string; needs: string }[] = [
  {
    place: 'linux',
    name: 'Linux',
    needs: 'A machine with systemd and Node 24 (node --version), as root. The script asks for the first router and starts a service.',
  },
  { place: 'docker', name: 'Compose', needs: 'Any machine with Docker. Write agent/agent.yaml as in step 4, then docker compose up -d.' },
  {
    place: 'routeros',
    name: 'Container on RouterOS',
    needs:
      'On the machine of the control plane (npx signalbox in a clone): prints lines, with a token of their own, that you paste into a terminal of the router.',
  },
];

interface LinesProps {
  made: Made;
  place: Place;
  onPlace: (place: Place) => void;
}

function Lines({ made: { token, name }, place, onPlace }: LinesProps) {
  const { me } = useFleet();
  const hasRelease = useHasRelease();
  const text = commandOf(place, { server: location.origin, token: token.token, name, team: me.team.name, hasRelease });
  return (
    <>
      <fieldset className="places">
        <legend className="sr">Kind of machine</legend>
        {PLACES.map((one) => (
          <label key={one.place} className={one.place === place ? 'on' : ''}>
            <input type="radio" name="place" className="sr" checked={one.place === place} onChange={() => onPlace(one.place)} />
            {one.name}
          </label>
        ))}
      </fieldset>
      <p className="dim">{PLACES.find((one) => one.place === place)?.needs}</p>
      <div className="lines">
        <pre aria-label="Lines to run">{text}</pre>
        <CopyButton text={text} label="the lines" isMain />
      </div>
      {place === 'routeros' ? (
        <p className="hint">docs/agent-in-routeros.md says which routers can do it, and how to get the image onto the router.</p>
      ) : (
        <p className="hint">
          The token ends <Moment at={token.expires_at} />, or when it is used. It is shown only now.
          {hasRelease ? null : ' This control plane has no built agent: get signalbox-agent.cjs by npm run build:agent in its clone.'}
        </p>
      )}
    </>
  );
}

/** Whether the control plane hands out the agent; true until it says otherwise. */
function useHasRelease(): boolean {
  const { data } = useQuery({
    queryKey: ['agent-release'],
    queryFn: async ({ signal }) => (await fetch('/agent/release', { signal })).ok,
    staleTime: Infinity,
  });
  return data ?? true;
}

/** What the agent logs in with. The password never leaves this browser by itself. */
function RouterUser({ place }: { place: Place }) {
  const [password] = useState(newPassword);
  if (place === 'routeros') return <p className="dim">The lines of the next step make it on the router, with a password of its own.</p>;
  const text = userLines(password);
  return (
    <>
      <p className="dim">
        In a terminal of the router. The password was made in this browser and is sent nowhere:{' '}
        {place === 'linux' ? 'keep it, the script asks for it.' : 'it goes into agent/edge-1.password.'}
      </p>
      <div className="lines">
        <pre aria-label="Lines for the router">{text}</pre>
        <CopyButton text={text} label="what makes the user" />
      </div>
    </>
  );
}

function Routers({ place, name }: { place: Place; name: string | undefined }) {
  if (place === 'routeros') return <p className="dim">The lines name the router itself. More routers go into agent.yaml on its disk.</p>;
  const text = configOf(place, { server: location.origin, name });
  return (
    <>
      <p className="dim">
        {place === 'linux' ? 'The script has written the first one. Add others, then systemctl restart signalbox-agent. ' : ''}
        Logins stay on that machine: this control plane never holds one.
      </p>
      <div className="lines">
        <pre aria-label="agent.yaml">{`# ${place === 'linux' ? '/etc/signalbox' : 'agent'}/agent.yaml\n${text}`}</pre>
        <CopyButton text={text} label="agent.yaml" />
      </div>
      <p className="hint">
        <code>signalbox-agent check</code> says what it reaches, and keeps nothing.
      </p>
    </>
  );
}
