import './terminals.css';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useRecord } from '../../data/use-record.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Moment } from '../../parts/moment.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { Reading, ReadingFailed } from '../../parts/reading.tsx';
import { RouterLink } from '../../parts/router-link.tsx';
import { useMay } from '../../session/use-may.ts';
import { useSession } from '../../session/use-session.ts';
import { readCast } from './recording.ts';
import type { Cast } from './recording.ts';
import { Screen } from './screen.tsx';
import { SPEEDS, usePlayback } from './use-playback.ts';
import { stateWords } from './words.ts';

/** What a router printed in a terminal, played again, for administrators. */
export function RecordingPage() {
  if (useMay('admin')) return <Recording />;
  return <PageHead crumb={<AppLink href="/terminals">Terminals</AppLink>} title="Recording" sentence="Administrators play recordings." />;
}

function Recording() {
  const { terminalId } = useParams({ from: '/terminals/$terminalId' });
  const { data: terminal } = useRecord('terminals', 'getTerminal', { path: { terminal_id: terminalId } });
  const session = useSession();
  const { data: cast, error } = useQuery({
    queryKey: ['recording', terminalId],
    queryFn: async ({ signal }) => {
      const headers = { authorization: `Bearer ${await session.token()}` };
      const answer = await fetch(`/api/terminals/${encodeURIComponent(terminalId)}/recording`, { headers, signal });
      if (!answer.ok) throw new Error('There is no such recording.');
      return readCast(await answer.text());
    },
  });
  return (
    <>
      <PageHead
        crumb={<AppLink href="/terminals">Terminals</AppLink>}
        title="Recording"
        sentence={
          terminal ? (
            <>
              <RouterLink id={terminal.router_id} />, level {terminal.level}, <Moment at={terminal.created_at} />: {terminal.reason} (
              {stateWords(terminal)})
            </>
          ) : undefined
        }
      />
      {error ? <ReadingFailed error={error} what="The recording" /> : cast ? <Player key={terminalId} cast={cast} /> : <Reading />}
    </>
  );
}

function Player({ cast }: { cast: Cast }) {
  const playback = usePlayback(cast);
  return (
    <div className="terminal-page">
      <Controls {...playback} />
      <Screen
        title="Recording of a terminal"
        speaker={playback.speaker}
        onMessage={(message) => {
          if (message.kind === 'ready') playback.begin();
        }}
      />
    </div>
  );
}

function Controls({ at, length, speed, setSpeed, isPlaying, seek, playOrPause }: ReturnType<typeof usePlayback>) {
  return (
    <div className="terminal-banner" role="group" aria-label="Player">
      <button type="button" className="btn sm main-act" onClick={playOrPause}>
        {isPlaying ? 'Pause' : 'Play'}
      </button>
      <input
        type="range"
        className="terminal-position"
        aria-label="Position in seconds"
        min={0}
        max={Math.max(0.1, length)}
        step={0.1}
        value={at}
        onChange={(event) => seek(Number(event.target.value))}
      />
      <span className="num dim">
        {at.toFixed(0)} of {length.toFixed(0)} s
      </span>
      <label>
        Speed{' '}
        <select
          className="control"
          value={speed}
          onChange={(event) => setSpeed(SPEEDS.find((each) => String(each) === event.target.value) ?? 1)}
        >
          {SPEEDS.map((each) => (
            <option key={each} value={each}>
              {each}×
            </option>
          ))}
        </select>
      </label>
      <span className="dim">Pauses are shortened to two seconds.</span>
    </div>
  );
}
