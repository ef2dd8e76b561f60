import './first.css';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NewlyMadeEnrolToken } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { CopyBlock } from '../../../parts/copy-block.tsx';
import { fill } from '../../../parts/fill.tsx';
import { isLoopback } from '../../../parts/loopback.ts';
import { exactTime, weekdayTime } from '../../../parts/times.ts';
import { ForAdmins } from '../settings-page.tsx';
import { commandOf, configOf, newPassword, passwordLines, startLines, titleOf, userLines, wayOf } from './commands.ts';
import type { Place } from './commands.ts';
import { MakeToken } from './make-token.tsx';
import { Progress } from './progress.tsx';
import { useToken } from './use-token.ts';
import { words } from './words.ts';

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
  const hasRelease = useHasRelease();
  const head = (
    <div className="head">
      <h1 className="say">
        <b>{words.title}</b> {words.about}
      </h1>
    </div>
  );
  if (me.role !== 'admin')
    return (
      <>
        {head}
        <ForAdmins what={words.deed} />
      </>
    );
  return (
    <>
      {head}
      <div className="cols first-cols">
        <ol className="first-steps">
          <li>
            <h2>{words.step.name}</h2>
            {made === undefined ? (
              <MakeToken onMade={(token, name) => setMade({ token, name, at: Date.now() })} />
            ) : (
              <p>
                <b className="id">{made.name}</b>{' '}
                <button type="button" className="btn quiet sm" onClick={() => setMade(undefined)}>
                  {words.step.another}
                </button>
              </p>
            )}
          </li>
          <li>
            <h2>{words.step.user}</h2>
            <RouterUser place={place} />
          </li>
          <li>
            <h2>{place === 'routeros' && made !== undefined ? words.step.runForRouter : words.step.run}</h2>
            {made === undefined ? <p className="dim">{words.step.linesLater}</p> : <Lines made={made} place={place} onPlace={setPlace} />}
          </li>
          <li>
            <h2>{place === 'linux' && hasRelease ? words.step.more : words.step.tell}</h2>
            <Routers place={place} name={made?.name} />
          </li>
        </ol>
        <Progress key={made?.token.id ?? ''} tokenId={made?.token.id} madeAt={made?.at} />
      </div>
    </>
  );
}

const PLACES: readonly { place: Place; name: string; needs: readonly string[]; about: string }[] = [
  { place: 'linux', ...words.place.linux },
  { place: 'docker', ...words.place.docker },
  { place: 'hand', ...words.place.hand },
  { place: 'routeros', ...words.place.routeros },
];

interface LinesProps {
  made: Made;
  place: Place;
  onPlace: (place: Place) => void;
}

function Lines({ made: { token, name }, place, onPlace }: LinesProps) {
  const { me } = useFleet();
  const hasRelease = useHasRelease();
  const way = wayOf(place, hasRelease);
  const { needs, about } = PLACES.find((one) => one.place === way)!;
  const isUsed = useToken(token.id)?.status === 'used';
  const text = commandOf(place, { server: location.origin, token: token.token, name, team: me.team.name, hasRelease });
  return (
    <>
      <fieldset className="places">
        <legend className="sr">{words.lines.kind}</legend>
        {PLACES.filter((one) => hasRelease || one.place !== 'hand').map((one) => (
          <label key={one.place} className={one.place === place ? 'on' : ''}>
            <input type="radio" name="place" className="sr" checked={one.place === place} onChange={() => onPlace(one.place)} />
            {one.name}
          </label>
        ))}
      </fieldset>
      <p className="needs-title">{words.lines.needs}</p>
      <ul className="needs">
        {(way === 'hand' && !hasRelease ? words.needsCopied : needs).map((need) => (
          <li key={need}>{need}</li>
        ))}
      </ul>
      <p className="dim">{about}</p>
      <CopyBlock text={text} label={words.lines.label} copied={words.lines.copied} isMain />
      {place === 'routeros' ? (
        <p className="hint">{words.lines.onRouter}</p>
      ) : (
        <p className="hint">
          {isUsed
            ? words.lines.used
            : fill(words.lines.ends, {
                time: (
                  <time dateTime={token.expires_at} title={exactTime(token.expires_at)}>
                    {weekdayTime(token.expires_at)}
                  </time>
                ),
              })}
          {hasRelease ? null : ` ${words.lines.noRelease}`}
        </p>
      )}
      {isLoopback(location.hostname) ? (
        <p className="hint c-away">{fill(words.lines.loopback[place === 'hand' ? 'linux' : place], { address: location.origin })}</p>
      ) : null}
    </>
  );
}

const LOOK_AGAIN_MS = 10_000;

/** Whether the control plane hands out the agent; true until it says otherwise. */
function useHasRelease(): boolean {
  const { data } = useQuery({
    queryKey: ['agent-release'],
    queryFn: async ({ signal }) => ((await (await fetch('/agent/release', { signal })).json()) as unknown) !== null,
    staleTime: Infinity,
    // Somebody may build it and start the control plane again: a reload would lose the token and the password.
    refetchInterval: ({ state }) => (state.data === false ? LOOK_AGAIN_MS : false),
  });
  return data ?? true;
}

/** What the agent logs in with. The password never leaves this browser by itself. */
function RouterUser({ place }: { place: Place }) {
  const [password] = useState(newPassword);
  const hasRelease = useHasRelease();
  const way = wayOf(place, hasRelease);
  if (way === 'routeros') return <p className="dim">{words.user.routeros}</p>;
  const text = userLines(password);
  return (
    <>
      <p className="dim">{words.user[way]}</p>
      <CopyBlock text={text} label={words.user.label} copied={words.user.copied} />
      <p className="hint">{words.user.again}</p>
      <details>
        <summary className="hint">{words.user.rights.title}</summary>
        <ul className="needs dim">
          {words.user.rights.list.map((right) => (
            <li key={right}>{right}</li>
          ))}
        </ul>
        <p className="hint">{words.user.rights.less}</p>
      </details>
    </>
  );
}

function Routers({ place, name }: { place: Place; name: string | undefined }) {
  const hasRelease = useHasRelease();
  if (place === 'routeros') return <p className="dim">{words.routers.onRouter}</p>;
  const way = wayOf(place, hasRelease);
  const text = configOf(place, { server: location.origin, name, hasRelease });
  const password = passwordLines(place, hasRelease);
  return (
    <>
      <p className="dim">
        {way === 'linux' ? `${words.routers.written} ` : ''}
        {words.routers.logins} {words.routers.port}
      </p>
      <CopyBlock text={text} label={words.routers.label} copied={words.routers.copied} title={titleOf(place, hasRelease)} />
      <p className="dim">{way === 'linux' ? words.routers.otherPassword : words.routers.password}</p>
      <CopyBlock text={password} label={words.routers.passwordLabel} copied={words.routers.passwordCopied} />
      {way === 'docker' || way === 'hand' ? <Start way={way} hasRelease={hasRelease} /> : null}
      {way === 'linux' ? <p className="hint">{fill(words.routers.check, { command: <code>{words.routers.checkCommand}</code> })}</p> : null}
    </>
  );
}

/** What is run last, after the files are there. */
function Start({ way, hasRelease }: { way: 'docker' | 'hand'; hasRelease: boolean }) {
  const text = startLines(way, hasRelease) ?? '';
  return (
    <>
      <p className="dim">{words.routers.start[way]}</p>
      <CopyBlock text={text} label={words.routers.startLabel} copied={words.routers.startCopied} />
    </>
  );
}
